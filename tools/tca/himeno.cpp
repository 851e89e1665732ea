// `tca himeno`: the Himeno benchmark on ranks that write straight into each other's memory, checked against
// the serial answer and, if asked, timed against MPI in the same job.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cores.hpp"
#include "himeno/check.hpp"
#include "himeno/exchange.hpp"
#include "himeno/measure.hpp"
#include "himeno/problem.hpp"
#include "himeno/solver.hpp"
#include "himeno_report.hpp"
#include "launch.hpp"
#include "progress.hpp"
#include "subcommand.hpp"
#include "tca/error.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

constexpr std::int64_t traced_iterations = 200;  // a trace of seconds would be too large for its viewers

struct HimenoOptions {
  int ranks = 1;
  std::string size = "S";
  std::string grid = "auto";
  std::int64_t iterations = 0;
  double seconds = 0;
  bool no_overlap = false;
  bool unguarded = false;
  bool no_check = false;
  bool compare = false;
  bool threads = false;
  bool explain = false;
  std::string json;
  std::string trace;
  Bind bind = Bind::automatic;
};

[[noreturn]] void refuse(const std::string& message) { throw Error(Errc::invalid_argument, message); }

// "2x2x1"; nothing for anything else.
std::optional<std::vector<int>> parse_grid(std::string_view text) {
  std::vector<int> shape;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    int extent = 0;
    const auto [rest, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 1 || extent > max_ranks) return std::nullopt;
    shape.push_back(extent);
    if (rest == end) break;
    if (*rest != 'x') return std::nullopt;
    at = rest + 1;
  }
  return shape.size() == 3 ? std::optional(shape) : std::nullopt;
}

Grid make_grid(const HimenoOptions& options, const himeno::Problem& problem, int ranks) {
  if (options.grid == "auto") {
    try {
      return Grid::choose(ranks, problem.interior());
    } catch (const Error&) {
      refuse(fmt::format("{} ranks: no grid of so many fits the {} cells to be shared in size {}", ranks,
                         himeno::describe(problem.interior()), options.size));
    }
  }
  const auto shape = parse_grid(options.grid);
  if (!shape) refuse(fmt::format("--grid {}: give three extents, such as 2x2x1, or auto", options.grid));
  const std::int64_t held = std::int64_t{(*shape)[0]} * (*shape)[1] * (*shape)[2];
  if (held != ranks) refuse(fmt::format("--grid {} holds {} ranks, not {}", options.grid, held, ranks));
  const Grid grid(ranks, *shape);
  himeno::check_grid(problem, grid);
  return grid;
}

void check_writable(const std::string& path) {
  if (path.empty()) return;
  if (!std::ofstream(path, std::ios::app)) refuse(fmt::format("{}: cannot be written", path));
}

// Twelve arrays of coefficients and two of pressure over all ranks, and the reference's two.
void check_memory(const himeno::Problem& problem, const HimenoOptions& options) {
  const auto& n = problem.extents;
  const double cells = static_cast<double>(n[0]) * static_cast<double>(n[1]) * static_cast<double>(n[2]);
  const double needed = cells * sizeof(float) * (options.no_check ? 14 : 16);
  const double present =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (needed < present) return;
  throw Error(Errc::out_of_memory,
              fmt::format("size {} needs {:.1f} GiB, this machine has {:.1f}; choose a smaller one",
                          options.size, needed / 0x1p30, present / 0x1p30));
}

// Everything that can be wrong is said here, once, before any rank is started.
void check_before_launch(const HimenoOptions& options) {
  if (options.ranks < 1 || options.ranks > max_ranks) {
    refuse(fmt::format("--ranks {}: 1 to {} are possible", options.ranks, max_ranks));
  }
  const himeno::Problem problem{.extents = himeno::size_named(options.size).extents};
  make_grid(options, problem, options.ranks);
  if (options.compare && options.threads)
    refuse("--compare needs ranks that are processes; leave --threads out");
  if (options.compare && options.iterations == 1)
    refuse("--compare needs at least 2 iterations, one for each side");
  check_writable(options.json);
  check_writable(options.trace);
  check_memory(problem, options);
}

himeno::Plan plan_for(const HimenoOptions& options) {
  himeno::Plan plan{.iterations = options.iterations, .overlap = !options.no_overlap};
  if (options.seconds > 0) plan.seconds = options.seconds;
  const bool open = options.iterations == 0 && options.seconds == 0;
  if (open && !options.trace.empty()) plan.iterations = traced_iterations;
  return plan;
}

// A bar for each kind of work, one after the other.
class Bars {
 public:
  void update(std::string_view what, std::int64_t done, std::int64_t total) {
    if (what != what_) {
      what_ = what;
      bar_.reset();
      bar_.emplace(std::string(what), total);
    }
    bar_->update(done);
  }

 private:
  std::string what_;
  std::optional<Progress> bar_;
};

HimenoReport solve(World& world, const HimenoOptions& options) {
  const himeno::Size& size = himeno::size_named(options.size);
  const himeno::Problem problem{.extents = size.extents};
  const Grid grid = make_grid(options, problem, world.size());
  himeno::Solver solver(world, problem, grid, !options.trace.empty());
  const auto direct =
      himeno::direct_exchange(world, grid, solver.share(), solver.pressure(), !options.unguarded);
  const auto mpi =
      options.compare ? himeno::mpi_exchange(world, grid, solver.share(), solver.pressure()) : nullptr;
  std::vector<himeno::Exchange*> exchanges{direct.get()};
  if (mpi) exchanges.push_back(mpi.get());

  Bars bars;
  himeno::Progress progress;
  if (world.rank() == 0) {
    progress = [&bars](const char* what, std::int64_t done, std::int64_t total) {
      bars.update(what, done, total);
    };
  }
  HimenoReport report{.size = std::string(size.name),
                      .extents = size.extents,
                      .grid = grid.describe(),
                      .world = world.describe(),
                      .explain = direct->explain(),
                      .ranks = world.size(),
                      .overlap = !options.no_overlap,
                      .guarded = !options.unguarded};
  report.results = himeno::measure(world, problem, solver, exchanges, plan_for(options), progress);
  report.residual = solver.residual();
  report.iterations = solver.iterations();
  if (!options.no_check) report.check = himeno::check(world, problem, solver, progress);
  return report;
}

int run_rank(World& world, const HimenoOptions& options) {
  const HimenoReport report = solve(world, options);
  if (!options.trace.empty()) world.write_trace(options.trace);
  if (world.rank() == 0) {
    print(report);
    if (options.explain) fmt::print("\n{}", report.explain);
    if (!options.json.empty()) append_json(report, options.json);
  }
  return report.check && !report.check->agrees() ? 1 : 0;
}

int run_as_threads(const HimenoOptions& options, const WorldOptions& world_options) {
  int code = 0;
  World::run_threads(
      options.ranks,
      [&](World& world) {
        const int own = run_rank(world, options);
        if (world.rank() == 0) code = own;
      },
      world_options);
  return code;
}

int launch_ranks(const HimenoOptions& options) {
  LaunchOptions launching;
  launching.name = "tca himeno";
  launching.ranks = options.ranks;
  launching.argv = own_command_line();
  launching.bind = options.bind;
  if (options.compare) {
    if (himeno::have_mpi()) {
      launch_under_mpirun(launching);  // comes back only when there is no mpirun
    } else {
      fmt::print(stderr, "tca himeno: built without MPI, so there is nothing to compare with\n");
    }
    std::erase(launching.argv, "--compare");
  }
  return launch(launching);
}

int himeno_command(const HimenoOptions& options) {
  const WorldOptions world_options{.trace = !options.trace.empty()};
  const bool rank = already_a_rank();
  if (!rank) check_before_launch(options);
  if (options.threads && !rank) return run_as_threads(options, world_options);
  if (!rank) return launch_ranks(options);
  World world = World::init(world_options);
  return run_rank(world, options);
}

}  // namespace

void add_himeno(Subcommands& tca) {
  auto options = std::make_shared<HimenoOptions>();
  options->ranks = std::min(4, usable_cores());
  CLI::App& app =
      tca.add("himeno", "Solves Poisson's equation on several ranks and checks the answer (Himeno benchmark)",
              "tca himeno --ranks 4 --size S\n"
              "tca himeno --ranks 2 --size M --iterations 100 --compare",
              [options] { return himeno_command(*options); });
  app.add_option("-n,--ranks", options->ranks, "How many ranks")->capture_default_str();
  app.add_option("-s,--size", options->size, "XS, S, M, L or XL")->capture_default_str();
  app.add_option("--grid", options->grid, "Ranks along each dimension, such as 2x2x1; auto chooses")
      ->capture_default_str();
  auto* iterations = app.add_option("--iterations", options->iterations, "How many iterations");
  iterations->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  app.add_option("--seconds", options->seconds,
                 "As many iterations as fill this time (3 unless told otherwise)")
      ->check(CLI::Range(0.001, 1e6))
      ->excludes(iterations);
  app.add_flag("--no-overlap", options->no_overlap, "Exchange after computing instead of meanwhile");
  app.add_flag("--unguarded", options->unguarded,
               "Save a signal a step; the two arrays in turn make it safe");
  app.add_flag("--no-check", options->no_check, "Leave the serial reference out");
  app.add_flag("--compare", options->compare, "The same over MPI as well, in the same job");
  app.add_flag("--threads", options->threads, "Ranks as threads of one process");
  app.add_flag("--explain", options->explain, "Print how each put travels");
  app.add_option("--json", options->json, "Append the measurement to this file")->type_name("FILE");
  app.add_option("--trace", options->trace,
                 "Write a trace for ui.perfetto.dev; 200 iterations unless told otherwise")
      ->type_name("FILE");
  add_bind_option(app, options->bind);
}

}  // namespace tca::tool
