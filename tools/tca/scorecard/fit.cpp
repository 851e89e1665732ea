// `tca fit`: fits those numbers of a machine file that nothing else determines to the published
// point-to-point rows.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "base/fail.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "model/machine/machine_file.hpp"
#include "model/machine/machine_units.hpp"
#include "scorecard/fit_solver.hpp"
#include "scorecard/score.hpp"

namespace tca::tool {

namespace {

namespace fs = std::filesystem;

// Suffix of a machine file's name while the file is being written.
constexpr const char* draft_suffix = ".unfinished";

struct FitOptions {
  std::string machine = "ha-pacs-tca";
  std::string figures;
  std::string only;
  int rounds = 12;
  bool write = false;
};

// The source of a fitted number says where its value comes from:
// - "fit: ROWS": the number is moved by the fit.
// - "fit: same as KEY": the number follows another one.
// - "fit: a choice; WHY": the number stays as it is.
constexpr std::string_view moved = "fit: ", chosen = "fit: a choice";

bool is_moved(const net::MachineNumber& number, const fs::path& file) {
  return number.origin == net::Origin::fitted && number.place.file == file &&
         number.source.starts_with(moved) && !number.source.starts_with(chosen) &&
         net::leader_of(number).empty() && number.value > 0;
}

// Counts and sizes change in steps, which derivatives do not see.
bool is_smooth(const net::MachineNumber& number) {
  const std::optional<net::Quantity> quantity = net::quantity_of(number.unit);
  return quantity != net::Quantity::size && (quantity != net::Quantity::count || number.value < 1);
}

// Returns the byte offset of a column. Places count letters, each of which takes one byte or more in UTF-8.
std::size_t byte_at(std::string_view line, int column) {
  std::size_t byte = 0;
  for (int letter = 1; letter < column && byte < line.size(); ++letter) {
    ++byte;
    while (byte < line.size() && (static_cast<unsigned char>(line[byte]) & 0xC0U) == 0x80U) ++byte;
  }
  return byte;
}

class Fit {
 public:
  explicit Fit(const FitOptions& options)
      : options_(options),
        file_(net::find_machine(options.machine)),
        machine_(net::read_machine(options.machine)) {
    if (options.write) check_written();
    for (const net::MachineNumber& number : machine_.numbers)
      if (is_moved(number, file_) && is_smooth(number) && number.key.find(options.only) != std::string::npos)
        free_.push_back(number);
    if (free_.empty() && !options.only.empty())
      base::fail(Errc::invalid_argument, "--only {}: {} has no number to fit whose key has this in it",
                 options.only, file_.string());
    if (free_.empty())
      base::fail(Errc::invalid_argument,
                 "{} has no numbers to fit: none whose source begins with \"fit: \" and ROWS",
                 file_.string());
    const fs::path folder = options.figures.empty() ? net::find_published() : fs::path(options.figures);
    for (Figure& figure : read_figures(folder))
      if (figure.use == Use::fitted && names(figure)) figures_.push_back(std::move(figure));
    if (figures_.empty())
      base::fail(Errc::invalid_argument, "no figure that may be fitted to names {}", name());
  }

  int run() {
    std::vector<double> start;
    for (const net::MachineNumber& number : free_) start.push_back(number.value);
    const std::vector<Score> before = scores({});
    FitProblem problem;
    problem.start = start;
    problem.rounds = options_.rounds;
    problem.errors = [this](const std::vector<double>& values) { return errors(scores(overrides(values))); };
    problem.report = [](int round, double loss) { fmt::print(stderr, "round {:>2}: {:.6f}\n", round, loss); };
    std::vector<double> found = solve(problem);
    for (double& value : found) value = rounded(value);
    const net::Overrides fitted = overrides(found);
    report(before, scores(fitted), found);
    if (options_.write) write(fitted);
    return 0;
  }

 private:
  // Called before the fit, so that no time is spent in vain. A file that may not be written to is not
  // replaced either.
  void check_written() const {
    check_replaceable(file_.string(), draft_suffix);
    if (access(file_.c_str(), W_OK) != 0)
      refuse("{}: cannot be written: {}", file_.string(), std::strerror(errno));
  }

  std::string name() const { return file_.stem().string(); }

  bool names(const Figure& figure) const {
    return figure.with.machine == name() || (figure.over && figure.over->machine == name());
  }

  // Three digits: the rows do not determine more.
  static double rounded(double value) { return std::stod(fmt::format("{:.3g}", value)); }

  // Returns the values together with the numbers that follow them. A follower that stands in a file which
  // this one extends is left out, because that file stays as it is.
  net::Overrides overrides(const std::vector<double>& values) const {
    net::Overrides overrides;
    for (std::size_t i = 0; i < free_.size(); ++i) overrides[free_[i].key] = values[i];
    for (const net::MachineNumber& number : machine_.numbers) {
      const auto leader = overrides.find(net::leader_of(number));
      if (leader != overrides.end() && number.place.file == file_) overrides[number.key] = leader->second;
    }
    return overrides;
  }

  // The figures know the machine by the name of its file, wherever the file lies.
  std::vector<Score> scores(const net::Overrides& overrides) const {
    Machines tried;
    tried.emplace(name(), net::read_machine(options_.machine, overrides));
    return score(figures_, read_machines(figures_, std::move(tried)));
  }

  static std::vector<double> errors(const std::vector<Score>& scores) {
    std::vector<double> errors;
    for (const Score& score : scores) errors.push_back(score.error);
    return errors;
  }

  void report(const std::vector<Score>& before, const std::vector<Score>& after,
              const std::vector<double>& found) const {
    fmt::print("{:<44}{:>12}{:>12}  {}\n", "number", "before", "after", "unit");
    for (std::size_t i = 0; i < free_.size(); ++i)
      fmt::print("{:<44}{:>12.4g}{:>12.4g}  {}\n", free_[i].key, free_[i].value, found[i], free_[i].unit);
    fmt::print("\n{:<70}{:>14}{:>12}{:>10}{:>10}\n", "row", "published", "after", "before %", "after %");
    for (std::size_t i = 0; i < after.size(); ++i)
      fmt::print("{:<70}{:>14}{:>12.4g}{:>+10.1f}{:>+10.1f}\n",
                 fmt::format("{} {} {}", after[i].source, after[i].figure, after[i].config),
                 after[i].published, after[i].model, before[i].error * 100, after[i].error * 100);
    const Summary was = summarise(before, Use::fitted), is = summarise(after, Use::fitted);
    fmt::print("\nmedian error {:.1f} % -> {:.1f} %, greatest {:.1f} % -> {:.1f} %, {} numbers on {} rows\n",
               was.median * 100, is.median * 100, was.greatest * 100, is.greatest * 100, free_.size(),
               after.size());
  }

  // Replaces the numbers by the fitted values and leaves every other letter of the file as it is. The new
  // text is first written to a draft beside the file, so that the file is whole whatever happens.
  void write(const net::Overrides& fitted) const {
    std::ifstream in(file_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::vector<net::MachineNumber> numbers;
    for (const net::MachineNumber& number : machine_.numbers)
      if (fitted.contains(number.key)) numbers.push_back(number);
    // From right to left, so that a replacement does not move the numbers that are still to be replaced.
    std::ranges::sort(numbers, std::greater{}, [](const auto& number) { return number.place.column; });
    for (const net::MachineNumber& number : numbers) {
      std::string& line = lines.at(static_cast<std::size_t>(number.place.line - 1));
      line.replace(byte_at(line, number.place.column), static_cast<std::size_t>(number.columns),
                   fmt::format("{:.3g}", fitted.at(number.key)));
    }
    const std::string text = fmt::format("{}\n", fmt::join(lines, "\n"));
    check_text(text, fitted);
    replace(text);
    fmt::print("written to {}\n", file_.string());
  }

  // Refuses the new text unless it gives the values that were reported. Called before the text takes the
  // file's place.
  void check_text(const std::string& text, const net::Overrides& fitted) const {
    std::string problem;
    try {
      for (const net::MachineNumber& number :
           net::read_machine(net::MachineFile(text, file_.string())).numbers)
        if (fitted.contains(number.key) && number.value != fitted.at(number.key))
          problem = fmt::format("{} would be {}, not {}", number.key, number.value, fitted.at(number.key));
    } catch (const Error& error) {
      problem = error.what();
    }
    if (!problem.empty())
      refuse("{}: left as it is, since with the values put in it would not be read as meant: {}",
             file_.string(), problem);
  }

  void replace(const std::string& text) const {
    const fs::path file = replaced_file(file_.string()), draft = file.string() + draft_suffix;
    std::error_code problem;
    std::ofstream out(draft);
    out << text;
    out.close();
    if (!out) problem.assign(errno != 0 ? errno : EIO, std::generic_category());
    if (!problem) fs::permissions(draft, fs::status(file).permissions(), problem);
    if (!problem) fs::rename(draft, file, problem);
    if (!problem) return;
    std::error_code none;
    fs::remove(draft, none);
    refuse("{}: cannot be written: {}", file_.string(), problem.message());
  }

  FitOptions options_;
  fs::path file_;
  net::Machine machine_;
  std::vector<net::MachineNumber> free_;
  std::vector<Figure> figures_;
};

}  // namespace

void add_fit(Subcommands& tca) {
  auto options = std::make_shared<FitOptions>();
  CLI::App& app =
      tca.add("fit", "Fits a machine's unknown numbers to the published point-to-point rows (docs/model.md)",
              "tca fit ha-pacs-tca --write", [options] { return Fit(*options).run(); });
  app.add_option("MACHINE", options->machine, "Machine to fit: the name or the path of a machine file")
      ->capture_default_str();
  app.add_option("--only", options->only, "Fit only numbers whose key contains this text, such as mpi/");
  app.add_option("--rounds", options->rounds, "Greatest number of rounds")
      ->capture_default_str()
      ->check(between(1, 1000));
  app.add_option("--figures", options->figures,
                 "Folder with files of published figures, instead of OpenTCA's own")
      ->type_name("FOLDER");
  app.add_flag("--write", options->write, "Write the fitted values into the machine file");
}

}  // namespace tca::tool
