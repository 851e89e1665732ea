#include "scorecard/figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <system_error>

#include "base/fail.hpp"
#include "base/toml.hpp"
#include "model/machine/machine_names.hpp"
#include "scorecard/runs.hpp"

namespace tca::tool {

std::string_view to_string(Use use) {
  switch (use) {
    case Use::fitted:
      return "fitted";
    case Use::predicted:
      return "predicted";
    case Use::unusable:
      return "unusable";
  }
  return "?";
}

std::string describe(const RunSettings& settings) {
  std::vector<std::string> words{settings.machine, settings.scheme};
  const auto add = [&words](bool said, std::string word) {
    if (said) words.push_back(std::move(word));
  };
  add(!settings.library.empty(), settings.library);
  const bool is_application = !settings.size.empty() || settings.scale > 0;  // whose GPUs the machine names
  add((settings.scheme == "mpi" && !is_application) || settings.gpu != 0,
      fmt::format("gpu {}", settings.gpu));
  add(settings.memory != "gpu", settings.memory);
  add(settings.start != "kernel", settings.start);
  add(settings.scope != "parts", settings.scope);
  add(settings.packed, "packed");
  add(!settings.from.empty() || !settings.to.empty(), fmt::format("{} to {}", settings.from, settings.to));
  add(settings.bytes > 0, fmt::format("{} B", settings.bytes));
  add(settings.n > 0, fmt::format("n = {}", settings.n));
  add(!settings.size.empty(), "class " + settings.size);
  add(settings.scale > 0, fmt::format("scale {}", settings.scale));
  add(settings.ranks != 2, fmt::format("{} ranks", settings.ranks));
  add(!settings.extents.empty(), fmt::format("{}", fmt::join(settings.extents, " x ")));
  add(!settings.domain.empty(), fmt::format("{} a GPU", fmt::join(settings.domain, " x ")));
  add(settings.gflops > 0, fmt::format("{:g} GFLOPS", settings.gflops));
  add(!settings.grid.empty(), fmt::format("grid {}", fmt::join(settings.grid, " x ")));
  return fmt::format("{}", fmt::join(words, ", "));
}

namespace {

std::string place_of(const toml::source_region& region) {
  return fmt::format("{}:{}:{}", region.path ? *region.path : std::string{}, region.begin.line,
                     region.begin.column);
}

template <class... Args>
[[noreturn]] void fail_at(const toml::node& node, fmt::format_string<Args...> text, Args&&... args) {
  base::fail(Errc::invalid_argument, "{}: {}", place_of(node.source()),
             fmt::format(text, std::forward<Args>(args)...));
}

// Reads a table key by key. A key that is left over is a mistake.
class Keys {
 public:
  explicit Keys(const toml::table& table) : table_(table) {}

  const toml::node* find(std::string_view key) {
    known_.emplace(key);
    return table_.get(key);
  }

  template <class T>
  void read(std::string_view key, T& into) {
    const toml::node* node = find(key);
    if (node != nullptr) into = as<T>(*node, key);
  }

  // Reads one of a few words.
  void read(std::string_view key, std::string& into, std::initializer_list<std::string_view> words) {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    into = as<std::string>(*node, key);
    if (std::ranges::find(words, into) == words.end())
      fail_at(*node, "`{}` is {}, not \"{}\"", key, fmt::join(words, " or "), into);
  }

  void finish() const {
    for (const auto& [key, node] : table_) {
      if (known_.contains(key.str())) continue;
      fail_at(node, "`{}` means nothing here{}", key.str(), net::did_you_mean(key.str(), known_));
    }
  }

  template <class T>
  static T as(const toml::node& node, std::string_view key) {
    const auto value = node.value<T>();
    if (!value) fail_at(node, "`{}` is of another kind", key);
    return *value;
  }

 private:
  const toml::table& table_;
  std::set<std::string, std::less<>> known_;
};

double positive(const toml::node& node, std::string_view key, std::string_view what) {
  const auto value = Keys::as<double>(node, key);
  if (!std::isfinite(value) || value <= 0) fail_at(node, "`{}`: {} is above 0, not {}", key, what, value);
  return value;
}

// What was published must be above 0, since errors are relative to it.
double published(const toml::node& node, std::string_view key) {
  return positive(node, key, "what was published");
}

// Limits of whole numbers, which begin at 1. A number that is too large for a machine is reported when the
// figure is run on it.
constexpr std::int64_t most_bytes = std::int64_t{1} << 32, most_cells = 65536;
constexpr std::int64_t most_count = std::numeric_limits<std::uint32_t>::max();

std::int64_t number_in(const toml::node& node, std::string_view key, std::int64_t least, std::int64_t most) {
  const auto number = Keys::as<std::int64_t>(node, key);
  if (number < least || number > most)
    fail_at(node, "`{}` is {}; it can be {} to {}", key, number, least, most);
  return number;
}

// Reads a size of a figure over bytes, or over the extent of a cube.
std::int64_t size_in(const toml::node& node, std::string_view key, std::string_view x) {
  return number_in(node, key, 1, x == "n" ? most_cells : most_bytes);
}

// Reads extents, or numbers of ranks, along dimensions.
std::vector<std::int64_t> read_extents(Keys& keys, std::string_view key, std::size_t least,
                                       std::size_t dimensions) {
  std::vector<std::int64_t> list;
  const toml::node* node = keys.find(key);
  if (node == nullptr) return list;
  const toml::array* items = node->as_array();
  if (items == nullptr || items->size() < least || items->size() > dimensions)
    fail_at(*node, "`{}` is a list of {}{} numbers", key,
            least < dimensions ? fmt::format("{} to ", least) : std::string{}, dimensions);
  for (const toml::node& item : *items) list.push_back(number_in(item, key, 1, most_cells));
  return list;
}

// What is run: the name of the run, and what the figure is over.
struct Subject {
  std::string run, x;
};

// Refuses settings that the run does not have, which may come from misreading a figure, and a figure without
// those that the run needs.
void check_settings(const toml::table& said, const toml::node& place, const Subject& subject,
                    const std::string& scheme) {
  const RunKind* kind = find_run(subject.run, scheme);
  if (kind == nullptr) {
    std::vector<std::string_view> schemes;
    for (const RunKind& other : run_kinds())
      if (other.name == subject.run) schemes.push_back(other.scheme);
    fail_at(place, "`{}` is run by {}, not by {}", subject.run, fmt::join(schemes, " or "), scheme);
  }
  std::vector<std::string_view> taken = kind->needs;
  taken.insert(taken.end(), kind->further.begin(), kind->further.end());
  for (const auto& [key, node] : said) {
    if (key.str() == subject.x)
      fail_at(node, "`{}` is what the figure is over; leave it out here", key.str());
    if (!kind->takes(key.str()))
      fail_at(node, "`{}` means nothing to `{}` by {}, which takes {}", key.str(), kind->name, scheme,
              fmt::join(taken, ", "));
  }
  if (!subject.x.empty() && !kind->takes(subject.x))
    fail_at(place, "`{}` by {} is not over `{}`: it takes {}", kind->name, scheme, subject.x,
            fmt::join(taken, ", "));
  for (const std::string_view key : kind->needs)
    if (key != subject.x && !said.contains(key))
      fail_at(place, "`{}` by {} lacks `{}`", kind->name, scheme, key);
}

RunSettings read_settings(const toml::node& node, const std::string& machine, const Subject& subject) {
  if (!node.is_table()) fail_at(node, "the settings of a run are a table");
  Keys keys(*node.as_table());
  RunSettings run;
  run.machine = machine;
  keys.read("machine", run.machine);
  keys.read("library", run.library);
  keys.read("scheme", run.scheme, {"direct", "mpi", "rma", "hybrid", "cuda"});
  keys.read("plane", run.plane, {"jk", "ik", "ij"});
  keys.read("memory", run.memory, {"gpu", "host"});
  keys.read("start", run.start, {"kernel", "graph"});
  keys.read("scope", run.scope, {"parts", "grid"});
  keys.read("from", run.from, {"gpu", "host"});
  keys.read("to", run.to, {"gpu", "host"});
  keys.read("size", run.size, {"S", "W", "A", "B", "C"});
  struct Number {
    std::string_view key;
    std::int64_t* into;
    std::int64_t least, most;
  };
  for (const Number& number : {Number{"bytes", &run.bytes, 1, most_bytes},
                               {"n", &run.n, 1, most_cells},
                               {"scale", &run.scale, 6, 24},
                               {"ranks", &run.ranks, 1, most_count},
                               {"gpu", &run.gpu, 0, 63},
                               {"gpu_window", &run.gpu_window, 1, most_count},
                               {"engines", &run.engines, 1, 2},
                               {"element", &run.element, 1, 64}})
    if (const toml::node* said = keys.find(number.key))
      *number.into = number_in(*said, number.key, number.least, number.most);
  for (auto [key, into] : {std::pair{"barrier", &run.barrier},
                           std::pair{"own_copy", &run.own_copy},
                           {"self_notify", &run.self_notify},
                           {"staged", &run.staged},
                           {"staged_out", &run.staged_out},
                           {"translate_overlaps", &run.translate_overlaps},
                           {"loop_back", &run.loop_back},
                           {"packed", &run.packed},
                           {"rate", &run.rate}})
    keys.read(key, *into);
  if (const toml::node* said = keys.find("translate_us"))
    run.translate_us = positive(*said, "translate_us", "a time");
  if (const toml::node* said = keys.find("gflops")) run.gflops = positive(*said, "gflops", "a speed");
  run.extents = read_extents(keys, "extents", 3, 3);
  run.grid = read_extents(keys, "grid", 2, 3);
  run.lattice = read_extents(keys, "lattice", 4, 4);
  run.domain = read_extents(keys, "domain", 4, 4);
  keys.finish();
  if (!subject.run.empty()) check_settings(*node.as_table(), node, subject, run.scheme);
  return run;
}

std::string read_run(Keys& keys) {
  const toml::node* node = keys.find("run");
  if (node == nullptr) return {};
  std::string run = Keys::as<std::string>(*node, "run");
  std::set<std::string_view> known;
  for (const RunKind& kind : run_kinds()) known.insert(kind.name);
  if (known.contains(run)) return run;
  fail_at(*node, "there is no run `{}`; there are {}{}", run, fmt::join(known, ", "),
          net::did_you_mean(run, known));
}

Use read_use(const toml::table& table, Keys& keys) {
  std::string word;
  keys.read("use", word);
  for (const Use use : {Use::fitted, Use::predicted, Use::unusable})
    if (word == to_string(use)) return use;
  fail_at(table, "`use` is fitted, predicted or unusable");
}

void read_published(Keys& keys, std::string_view key, std::optional<double>& into) {
  const toml::node* node = keys.find(key);
  if (node != nullptr) into = published(*node, key);
}

void read_points(Keys& keys, Figure& figure) {
  const toml::node* node = keys.find("points");
  if (node == nullptr) return;
  if (!node->is_array()) fail_at(*node, "`points` is a list of pairs");
  for (const toml::node& item : *node->as_array()) {
    const toml::array* pair = item.as_array();
    if (pair == nullptr || pair->size() != 2) fail_at(item, "a point is a pair such as [8, 2.015]");
    figure.points.emplace_back(size_in((*pair)[0], "points", figure.x), published((*pair)[1], "points"));
  }
}

void read_sizes(Keys& keys, Figure& figure) {
  const toml::node* node = keys.find("sizes");
  if (node == nullptr) return;
  if (!node->is_array()) fail_at(*node, "`sizes` is a list of numbers");
  for (const toml::node& item : *node->as_array()) figure.sizes.push_back(size_in(item, "sizes", figure.x));
}

void read_between(Keys& keys, Figure& figure) {
  const toml::node* node = keys.find("between");
  if (node == nullptr) return;
  const toml::array* pair = node->as_array();
  if (pair == nullptr || pair->size() != 2) fail_at(*node, "`between` is a pair such as [320, 384]");
  figure.between.emplace(published((*pair)[0], "between"), published((*pair)[1], "between"));
  if (figure.between->first > figure.between->second) fail_at(*node, "`between` begins with the lesser");
}

void check(const toml::table& table, const Figure& figure) {
  if (figure.name.empty()) fail_at(table, "a figure without `name`");
  if (figure.use == Use::unusable) {
    if (figure.reason.empty()) fail_at(table, "\"{}\" is unusable, but no `reason` says why", figure.name);
    if (!figure.sizes.empty() && (figure.run.empty() || figure.x.empty()))
      fail_at(table, "\"{}\" has sizes, but does not say what to `run` over which `x`", figure.name);
    return;
  }
  if (!figure.sizes.empty())
    fail_at(table, "\"{}\" has sizes, which are for drawings that cannot be read", figure.name);
  if (figure.run.empty()) fail_at(table, "\"{}\" does not say what to `run`", figure.name);
  const int said = int{!figure.points.empty()} + int{figure.value.has_value()} +
                   int{figure.at_least.has_value()} + int{figure.at_most.has_value()} +
                   int{figure.greatest.has_value()} + int{figure.between.has_value()};
  if (said != 1)
    fail_at(table,
            "\"{}\" is told by one of points, value, at_least, at_most, greatest and between, not by {}",
            figure.name, said);
  const bool crosses = (figure.at_least || figure.at_most) && !figure.x.empty();
  if ((figure.between || figure.greatest || crosses) && !figure.over)
    fail_at(table, "\"{}\" compares, but has no `over`", figure.name);
  if (!figure.points.empty() && figure.x.empty())
    fail_at(table, "\"{}\" has points, but no `x`", figure.name);
}

Figure read_figure(const toml::table& table, const std::string& source, const std::string& machine) {
  Keys keys(table);
  Figure figure;
  figure.source = source;
  figure.place = place_of(table.source());
  keys.read("name", figure.name);
  figure.run = read_run(keys);
  keys.read("x", figure.x, {"bytes", "n"});
  keys.read("unit", figure.unit);
  keys.read("reason", figure.reason);
  keys.read("note", figure.note);
  figure.use = read_use(table, keys);
  figure.with.machine = machine;
  const Subject subject{figure.run, figure.x};
  if (const toml::node* node = keys.find("with")) {
    figure.with = read_settings(*node, machine, subject);
  } else if (!figure.run.empty()) {
    check_settings({}, table, subject, figure.with.scheme);
  }
  if (const toml::node* node = keys.find("over")) figure.over = read_settings(*node, machine, subject);
  if (const toml::node* node = keys.find("less")) figure.less = read_settings(*node, machine, subject);
  read_points(keys, figure);
  read_sizes(keys, figure);
  read_between(keys, figure);
  read_published(keys, "value", figure.value);
  read_published(keys, "at_least", figure.at_least);
  read_published(keys, "at_most", figure.at_most);
  read_published(keys, "greatest", figure.greatest);
  keys.finish();
  check(table, figure);
  return figure;
}

}  // namespace

std::vector<Figure> parse_figures(std::string_view text, const std::string& file) {
  toml::table root;
  try {
    root = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    base::fail(Errc::invalid_argument, "{}: {}", place_of(error.source()), error.description());
  }
  Keys keys(root);
  std::string source, title, machine;
  keys.read("source", source);
  keys.read("title", title);
  keys.read("machine", machine);
  const toml::node* list = keys.find("figure");
  keys.finish();
  if (source.empty() || title.empty() || machine.empty())
    fail_at(root, "a file of figures says its `source`, `title` and `machine`");
  if (list == nullptr || !list->is_array_of_tables()) fail_at(root, "a file of figures has [[figure]]s");
  std::vector<Figure> figures;
  for (const toml::node& item : *list->as_array())
    figures.push_back(read_figure(*item.as_table(), source, machine));
  return figures;
}

std::vector<Figure> read_figures(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator(folder, problem))
    if (entry.path().extension() == ".toml") files.push_back(entry.path());
  if (problem)
    base::fail(Errc::invalid_argument, "{}: cannot be read as a folder of figures: {}", folder.string(),
               problem.message());
  if (files.empty())
    base::fail(Errc::invalid_argument, "{}: there are no figures in it; they are files that end in .toml",
               folder.string());
  std::ranges::sort(files);
  std::vector<Figure> all;
  for (const std::filesystem::path& file : files) {
    std::ifstream in(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    std::ranges::move(parse_figures(text, file.string()), std::back_inserter(all));
  }
  return all;
}

}  // namespace tca::tool
