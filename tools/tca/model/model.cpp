// `tca model`: runs programs of ranks on a modelled machine, and shows where their time goes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "cli/launch/cores.hpp"
#include "cli/options/bytes.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/record.hpp"
#include "cli/subcommand.hpp"
#include "model/grid.hpp"
#include "model/report.hpp"
#include "model/run.hpp"
#include "model/sweep.hpp"

namespace tca::tool {

namespace {

struct ModelCommand {
  ModelOptions model;
  std::vector<std::string> sweeps, overrides;
  std::string json;
  int jobs = 0;  // 0: as many as there are cores
};

std::optional<double> number_in(const std::string& text) {
  double value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || rest != text.data() + text.size()) return std::nullopt;
  return value;
}

// Numbers of the machine have a slash in their names: links/cable/latency.
void set_number(ModelOptions& options, const std::string& key, const std::string& value) {
  const std::optional<double> number = number_in(value);
  if (!number || !std::isfinite(*number)) refuse("{}={}: the value is no number", key, value);
  options.overrides[key] = *number;
}

// An option that only some programs have.
struct ProgramOption {
  std::string name;
  std::vector<std::string> programs;

  bool is_known(const std::string& program) const {
    return std::ranges::find(programs, program) != programs.end();
  }
};

const std::vector<ProgramOption> program_options{
    {"size", {"himeno", "cg", "qcd", "fft"}},
    {"extent", {"halo"}},
    {"layout", {"halo"}},
    {"grid", {"himeno", "halo", "cg", "qcd", "fft"}},
    {"element", {"himeno", "halo", "qcd"}},
    {"iterations", {"himeno", "halo", "pingpong", "cg", "qcd", "fft"}},
    {"bytes", {"pingpong", "bcast", "allgather", "allreduce"}},
    {"algorithm", {"bcast", "allgather", "allreduce"}}};

// Refuses an option that the program would silently ignore. `said` is how the command line gave it.
void check_known(const ProgramOption& option, const std::string& said, const std::string& program) {
  if (!option.is_known(program))
    refuse("{} is for {}, not for {}", said, fmt::join(option.programs, ", "), program);
}

// Sets what a value of a sweep names: a number of the machine, or an option.
void set_option(ModelOptions& options, const std::string& name, const std::string& value) {
  const std::map<std::string, std::string*> words{
      {"machine", &options.machine},   {"scheme", &options.scheme},      {"mpi", &options.library},
      {"fidelity", &options.fidelity}, {"grid", &options.grid},          {"size", &options.size},
      {"layout", &options.layout},     {"algorithm", &options.algorithm}};
  const std::map<std::string, std::int64_t*> counts{
      {"ranks", &options.ranks},     {"bytes", &options.bytes},           {"extent", &options.extent},
      {"element", &options.element}, {"iterations", &options.iterations}, {"gpu", &options.gpu}};
  if (name.find('/') != std::string::npos) return set_number(options, name, value);
  for (const ProgramOption& option : program_options)
    if (option.name == name) check_known(option, "--sweep " + name, options.program);
  if (const auto word = words.find(name); word != words.end()) {
    *word->second = value;
    return;
  }
  const auto count = counts.find(name);
  if (count == counts.end())
    refuse(
        "--sweep {}: there are bytes, ranks, extent, size, element, iterations, grid, layout, gpu, scheme, "
        "algorithm, mpi, fidelity, machine, and the numbers of the machine file, such as links/cable/latency",
        name);
  const std::optional<std::int64_t> number = parse_bytes(value);
  const std::int64_t least = name == "gpu" ? 0 : 1;
  if (!number || *number < least)
    refuse("--sweep {}={}: the value is no whole number from {} on", name, value, least);
  *count->second = *number;
}

struct Point {
  std::string name;
  ModelOptions options;
};

// Returns every combination of the sweeps' values, those of the last sweep changing fastest.
std::vector<Point> make_points(const ModelCommand& command) {
  std::vector<Point> points{{"", command.model}};
  constexpr std::size_t most = 10'000;
  std::set<std::string> names;
  for (const std::string& text : command.sweeps) {
    const Sweep sweep = parse_sweep(text);
    if (!names.insert(sweep.name).second)
      refuse("--sweep {} is given twice; give all of its values in one", sweep.name);
    std::vector<Point> further;
    for (const Point& point : points)
      for (const std::string& value : sweep.values) {
        Point& next = further.emplace_back(point);
        next.name += fmt::format("{}{}={}", point.name.empty() ? "" : " ", sweep.name, value);
        set_option(next.options, sweep.name, value);
        if (further.size() > most) refuse("the sweep has more than {} points", most);
      }
    points = std::move(further);
  }
  // When schemes are swept, --mpi is meant for those that use MPI.
  if (names.contains("scheme") && !names.contains("mpi"))
    for (Point& point : points)
      if (!takes_mpi(point.options.program, point.options.scheme)) point.options.library.clear();
  return points;
}

int run_sweep(const ModelCommand& command) {
  if (!command.model.trace.empty() || !command.model.links.empty())
    refuse("--trace and --links are of one run; leave them out, or the sweep");
  const std::vector<Point> points = make_points(command);
  const auto work = [&points](std::size_t i) {
    return model_line(points[i].options, run_model(points[i].options), points[i].name);
  };
  std::vector<SweepPoint> answers;
  const int jobs = command.jobs > 0 ? command.jobs : usable_cores();
  if (const int interrupted = run_points(command.model.program, points.size(), jobs, work, answers)) {
    fmt::print(stderr, "tca model: interrupted; nothing is left running\n");
    return interrupted;
  }
  print_sweep_header("point");
  int code = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!answers[i].error.empty()) {
      fmt::print(stderr, "tca model: {}: {}\n", points[i].name, answers[i].error);
      if (code == 0) code = answers[i].exit_code;
      continue;
    }
    print_sweep_row(points[i].name, answers[i].answer);
    if (!command.json.empty()) append_line(command.json, answers[i].answer);
  }
  return code;
}

int model(ModelCommand command) {
  for (const std::string& text : command.overrides) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
      refuse("--set {}: write KEY=NUMBER, such as links/cable/latency=0.2", text);
    set_number(command.model, text.substr(0, equals), text.substr(equals + 1));
  }
  check_distinct(
      {{"--trace", command.model.trace}, {"--json", command.json}, {"--links", command.model.links}});
  const std::string ending = std::filesystem::path(command.model.links).extension();
  if (!ending.empty() && ending != ".svg")
    refuse("--links {}: it is drawn as SVG; have the name end in .svg", command.model.links);
  for (const std::string* path : {&command.json, &command.model.trace, &command.model.links})
    check_writable(*path);
  if (!command.sweeps.empty()) return run_sweep(command);
  const ModelResult result = run_model(command.model);
  print_model(command.model, result);
  if (!command.json.empty()) append_line(command.json, model_line(command.model, result, ""));
  return 0;
}

void add_program_options(CLI::App& app, ModelOptions& options) {
  app.add_option(
         "-n,--ranks", options.ranks,
         "Number of ranks; when not given 2 for a ping-pong (the first and the last), else as many as "
         "reach each other directly, 16 where none do")
      ->check(between(std::int64_t{1}, std::int64_t{1} << 32));
  app.add_option("--scheme", options.scheme,
                 "Scheme of communication: direct, mpi, rma or hybrid; the machine's first when not given");
  app.add_option("--algorithm", options.algorithm,
                 "Algorithm of a collective, such as ring; what the library would choose when not given");
  app.add_option("--mpi", options.library,
                 "Name of one of the machine's MPI libraries; its first when not given");
  takes_bytes(app.add_option("--bytes", options.bytes,
                             "Size of a message; in an allgather, of what each rank contributes"),
              1, std::int64_t{1} << 40)
      ->capture_default_str();
  app.add_option(
      "-s,--size", options.size,
      "Problem size. himeno: XS, S, M (when not given), L, XL, or extents such as 256x128x128; cg: a "
      "class (C), or rows and elements of a row, such as 1000000x200; qcd: a lattice (32x32x32x64); "
      "fft: an array (512x512x512)");
  app.add_option("--extent", options.extent, "Edge length, in cells, of the cube that each rank has in halo")
      ->capture_default_str();
  app.add_option("--grid", options.grid, "Number of ranks along each dimension, such as 2x8x1; auto chooses")
      ->capture_default_str();
  app.add_option("--layout", options.layout,
                 "Layout of the faces that a ring of ranks exchanges, in halo without a grid")
      ->check(one_of({"block", "block-stride", "stride"}))
      ->capture_default_str();
  app.add_option(
         "--gpu", options.gpu,
         "GPU that a rank computes on, where a node has one rank; decides what it shares a socket with")
      ->check(between(0, 63))
      ->capture_default_str();
  app.add_option("--element", options.element,
                 "Bytes per array element; 4 for himeno and qcd and 8 for halo when not given")
      ->check(between(1, 64));
  app.add_option("--iterations", options.iterations, "Number of iterations; collectives have none")
      ->capture_default_str();
}

}  // namespace

void add_model(Subcommands& tca) {
  auto options = std::make_shared<ModelCommand>();
  CLI::App& app =
      tca.add("model", "Models a program of ranks on a machine that need not be there (docs/model.md)",
              "tca model himeno --machine ha-pacs-tca --ranks 16 --scheme hybrid\n"
              "tca model himeno --machine torus-32k --ranks 32768 --size XL\n"
              "tca model fft --machine h200-4096 --ranks 512 --size 1024x1024x1024 --scheme hybrid\n"
              "tca model pingpong --machine peach3 --sweep bytes=8:1M --json pingpong.jsonl\n"
              "tca model allgather --sweep scheme=direct,mpi --sweep links/cable/latency=0.1,0.2\n"
              "tca model halo --machine dgx-h200 --trace halo.json --links halo.svg",
              [options] { return model(*options); });
  app.add_option("PROGRAM", options->model.program, "Program to model")
      ->required()
      ->check(one_of({"himeno", "halo", "cg", "qcd", "fft", "pingpong", "bcast", "allgather", "allreduce"}));
  app.add_option("--machine", options->model.machine,
                 "Machine to model: the name or the path of a machine file")
      ->capture_default_str();
  add_program_options(app, options->model);
  app.add_option("--fidelity", options->model.fidelity,
                 "Level of detail: rtl simulates the hubs' own RTL, tlp models every packet, train whole "
                 "transfers, flow shared rates; auto is tlp up to 64 ranks, else train")
      ->check(one_of({"auto", "tlp", "train", "flow", "rtl"}))
      ->capture_default_str();
  app.add_option(
      "--set", options->overrides,
      "Replace a number of the machine file, in its unit: KEY=NUMBER, such as links/cable/latency=0.2");
  app.add_option(
      "--sweep", options->sweeps,
      "Run once for each value of an option, or of a number of the machine file: NAME=VALUE,VALUE,... or "
      "NAME=FIRST:LAST (doubling); several sweeps make every combination");
  app.add_option("--jobs", options->jobs, "Number of processes that a sweep runs at a time; 0: one per core")
      ->check(between(0, 4096))
      ->capture_default_str();
  app.add_option("--trace", options->model.trace, "Write a timeline for ui.perfetto.dev to this file")
      ->type_name("FILE");
  app.add_option("--links", options->model.links, "Draw the links and how busy they were into this SVG file")
      ->type_name("FILE");
  app.add_option("--json", options->json, "Append a line of JSON for each result to this file")
      ->type_name("FILE");
  app.final_callback([&app, options] {
    for (const ProgramOption& option : program_options)
      if (app.count("--" + option.name) > 0) check_known(option, "--" + option.name, options->model.program);
    check_known(app, {{"--jobs", !options->sweeps.empty(), "--sweep"}});
  });
}

}  // namespace tca::tool
