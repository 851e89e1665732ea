// `tca scorecard`: compares the model with every published figure.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "base/fail.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "model/machine/machine_file.hpp"
#include "scorecard/score.hpp"

namespace tca::tool {

namespace {

struct ScorecardOptions {
  std::string source, use, machine;  // empty: all
  std::string folder;
  bool json = false;
};

// JSON has no infinity, so a crossing that never comes is null. So is what an unusable figure does not have.
nlohmann::ordered_json number(double value, bool there) {
  return there && std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

nlohmann::ordered_json to_json(const Score& score) {
  const bool usable = score.use != Use::unusable;
  const bool modelled = usable || score.drawn;
  const bool both = !score.config.empty() && !score.settings.empty();
  nlohmann::ordered_json line{{"source", score.source},
                              {"figure", score.figure},
                              {"config", score.config + (both ? "; " : "") + score.settings},
                              {"unit", score.unit},
                              {"published", score.published},
                              {"model", number(score.model, modelled)},
                              {"error", number(score.error, usable)},
                              {"use", to_string(score.use)}};
  if (usable && score.sharp) line["published"] = score.published_value;
  if (!score.reason.empty()) line[usable ? "note" : "reason"] = score.reason;
  return line;
}

std::string error_text(const Score& score) {
  if (!score.sharp && score.error == 0) return "right";
  return std::isfinite(score.error) ? fmt::format("{:+.1f} %", score.error * 100) : std::string("never");
}

void print_table(const std::vector<Score>& scores) {
  std::string figure;
  for (const Score& score : scores) {
    if (score.figure != figure) {
      figure = score.figure;
      fmt::print("\n{}: {} ({}{}{})\n", score.source, figure, to_string(score.use),
                 score.unit.empty() ? "" : ", ", score.unit);
      if (!score.reason.empty()) fmt::print("    {}\n", score.reason);
    }
    if (score.use == Use::unusable) continue;
    fmt::print("    {:<14}{:>24}{:>14.4g}{:>12}\n", score.config, score.published, score.model,
               error_text(score));
  }
}

void print_summary(const std::vector<Score>& scores) {
  fmt::print("\n{:<12}{:>9}{:>14}{:>12}{:>16}{:>22}\n", "", "numbers", "median error", "greatest",
             "beyond 30 %", "ranges and bounds");
  for (const Use use : {Use::fitted, Use::predicted}) {
    const Summary sum = summarise(scores, use);
    fmt::print("{:<12}{:>9}{:>12.1f} %{:>10.1f} %{:>16}{:>15} of {}\n", to_string(use), sum.numbers,
               sum.median * 100, sum.greatest * 100, sum.beyond_30, sum.right, sum.ranges);
  }
  int unusable = 0;
  std::set<std::string> drawings;  // each counts as one, however many points its curve has
  for (const Score& score : scores)
    if (score.use == Use::unusable && (!score.drawn || drawings.insert(score.figure).second)) ++unusable;
  fmt::print("{:<12}{:>9}\n", "unusable", unusable);
}

// The short names that the sources had at first.
std::string source_named(const std::string& name) {
  static const std::map<std::string_view, std::string_view> former{
      {"S0", "fujita14"}, {"S1", "tca-poster14"},  {"S2", "kaneda17"},      {"S3", "odajima-hybrid"},
      {"S4", "vicini13"}, {"P2B", "nakao-peach2"}, {"PP", "nakao-pingpong"}};
  const auto found = former.find(name);
  return std::string(found == former.end() ? name : found->second);
}

// Refuses a name that is given and is not among those that figures have.
void check_known(std::string_view what, const std::string& name, const std::set<std::string>& known) {
  if (!name.empty() && !known.contains(name))
    base::fail(Errc::invalid_argument, "there are no figures of a {} `{}`; there are {}", what, name,
               fmt::join(known, ", "));
}

// Leaves those that the options ask for.
void choose(std::vector<Figure>& figures, const ScorecardOptions& options) {
  std::set<std::string> sources, machines;
  for (const Figure& figure : figures) {
    sources.insert(figure.source);
    machines.insert(figure.with.machine);
    if (figure.over) machines.insert(figure.over->machine);
  }
  const std::string source = sources.contains(options.source) ? options.source : source_named(options.source);
  check_known("source", source, sources);
  check_known("machine", options.machine, machines);
  std::erase_if(figures, [&](const Figure& figure) {
    const bool of_machine = options.machine.empty() || figure.with.machine == options.machine ||
                            (figure.over && figure.over->machine == options.machine);
    return !of_machine || (!source.empty() && figure.source != source) ||
           (!options.use.empty() && to_string(figure.use) != options.use);
  });
}

int scorecard(const ScorecardOptions& options) {
  std::vector<Figure> figures =
      read_figures(options.folder.empty() ? net::find_published() : std::filesystem::path(options.folder));
  choose(figures, options);
  const Machines machines = read_machines(figures);
  const std::vector<Score> scores = score(figures, machines);
  if (options.json) {
    for (const Score& line : scores) fmt::print("{}\n", to_json(line).dump());
    return 0;
  }
  fmt::print("{:<18}{:>24}{:>14}{:>12}\n", "", "published", "model", "error");
  print_table(scores);
  print_summary(scores);
  return 0;
}

}  // namespace

void add_scorecard(Subcommands& tca) {
  auto options = std::make_shared<ScorecardOptions>();
  CLI::App& app = tca.add("scorecard", "Holds the model against the published figures (docs/model.md)",
                          "tca scorecard --source nakao-peach2", [options] { return scorecard(*options); });
  app.add_option("--source", options->source,
                 "Show only the figures of one source, such as nakao-peach2 or kaneda17");
  app.add_option("--use", options->use, "Show only figures of this use")
      ->check(one_of({"fitted", "predicted", "unusable"}));
  app.add_option("--of", options->machine, "Show only the figures of one machine, such as quong");
  app.add_option("--figures", options->folder,
                 "Folder with files of published figures, instead of OpenTCA's own")
      ->type_name("FOLDER");
  app.add_flag("--json", options->json, "Print one JSON object per line");
}

void add_fit(Subcommands& tca) {
  CLI::App& app = tca.add("fit", "Says how numbers of a machine file are fitted: by tools/fit/fit.py",
                          "tools/fit/fit.py ha-pacs-tca --write", []() -> int {
                            refuse(
                                "numbers are fitted by tools/fit/fit.py in OpenTCA's sources, with SciPy; "
                                "it takes the same arguments (docs/model.md)");
                          });
  app.allow_extras();
  app.group("");  // not for those who do not ask for it by name
}

}  // namespace tca::tool
