// `tca tune`: measures what puts cost on this machine and keeps the result for every later commit, or
// compares the kept result with puts that were not measured.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "base/system/environment.hpp"
#include "base/system/whole_file.hpp"
#include "cli/launch/cores.hpp"
#include "cli/launch/fd.hpp"
#include "cli/launch/launch.hpp"
#include "cli/launch/rank_job.hpp"
#include "cli/options/mpi_options.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/plot.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/temporary_file.hpp"
#include "cli/subcommand.hpp"
#include "route/tuning.hpp"
#include "tca/error.hpp"
#include "tca/version.hpp"
#include "tune/grid.hpp"
#include "tune/report.hpp"
#include "tune/survey.hpp"

namespace tca::tool {
namespace {

namespace fs = std::filesystem;

struct TuneOptions {
  int ranks = 2;
  bool ranks_given = false;
  std::string fabric;
  double seconds = 30;
  std::string output;  // empty: the file in the user's cache
  std::string plot, json;
  bool trace = false, verbose = false, dry_run = false, verify = false;
  std::uint64_t seed = 1;
  std::size_t points = 160;
  std::size_t every = 1;
  bool threads = false;
  Binding bind = {};
};

bool on_gpus(const TuneOptions& options) { return boot::on_gpus(options.fabric); }

// Makes the table's folder.
void make_cache(const fs::path& table) {
  std::error_code problem;
  fs::create_directories(table.parent_path(), problem);
  if (problem)
    refuse("{}: cannot be written: {}; give --output FILE, and programs OPENTCA_TUNING=FILE", table.string(),
           problem.message());
}

// A person who has named a table may expect this one to be it.
void tell_of_another_table(const TuneOptions& options) {
  const char* const named = base::set_variable("OPENTCA_TUNING");
  if (named == nullptr || std::string_view(named) == "off" || options.dry_run || !options.output.empty())
    return;
  fmt::print(stderr,
             "tca tune: OPENTCA_TUNING={0} has commits use that table, and not the one that is made now; "
             "`--output {0}` makes that one\n",
             named);
}

const Sizes& sizes_of(const TuneOptions& options) {
  return on_gpus(options) ? sizes_on_gpus : sizes_on_hosts;
}

// Creates the user's cache if necessary. The folder of --output must exist.
void check_place(const TuneOptions& options) {
  if (options.dry_run || options.verify) return;
  const std::string fabrics = options.fabric.empty() ? "shm" : options.fabric;
  const fs::path path =
      options.output.empty() ? route::tuning_path(route::hardware(), fabrics) : fs::path(options.output);
  if (path.empty())
    refuse(
        "there is nowhere to keep the table: neither XDG_CACHE_HOME nor HOME is set; set one, or give "
        "--output FILE");
  if (options.output.empty()) make_cache(path);
  check_replaceable(path);
}

// Called before what is drawn is measured.
void check_plot(const TuneOptions& options) {
  if (options.plot.empty()) return;
  TemporaryFile{};
  check_drawable(options.plot);
}

// Called before anything is measured, where the ranks are started or, if they have been started already, on
// rank 0.
void check(const TuneOptions& options) {
  check_distinct({{"--output", options.output}, {"--json", options.json}, {"--plot", options.plot}});
  check_writable(options.json);
  check_plot(options);
  if (options.verify && (options.dry_run || !options.output.empty() || !options.plot.empty()))
    refuse("--verify writes no table and draws nothing; leave --dry-run, --output and --plot out");
  check_place(options);
}

void check_before_launch(const TuneOptions& options) {
  if (options.ranks < 2 || options.ranks > max_ranks)
    refuse("--ranks {}: 2 to {} are possible", options.ranks, max_ranks);
  if (options.threads && options.fabric != "cuda")
    refuse(
        "--threads is for --fabric cuda: processes and threads of a host cost alike, and MPI's are "
        "processes");
  check_built(options.fabric);
  check_bind(options.bind, options.fabric, options.threads);
  check(options);
  if (options.ranks > usable_cores() && !on_gpus(options))
    fmt::print(
        stderr,
        "tca tune: {} ranks share {} core{}: what is measured is mostly the scheduler; give --ranks {}\n",
        options.ranks, usable_cores(), usable_cores() == 1 ? "" : "s", std::max(2, usable_cores()));
}

// Checks the options in ranks that have been started already. Rank 0 throws what it refuses; the others
// return that error's exit code.
int check_as_rank(const TuneOptions& options) {
  const auto check_all = [&](int ranks) {
    check_launched(ranks, options.ranks_given ? options.ranks : ranks, options.threads);
    check(options);
  };
  return run_as_one_rank({.fabric = options.fabric}, check_all, [](World&) { return 0; });
}

// When ranks share a GPU, nothing of theirs crosses between GPUs. A table of such puts would mislead every
// other world.
void check_gpus(World& world, const TuneOptions& options) {
  if (!world.ranks_share_devices() || options.dry_run || options.verify || !options.output.empty()) return;
  throw Error(
      Errc::refused,
      "ranks share a GPU, so what is measured is not what a put between GPUs costs; give --ranks as many as "
      "there are GPUs, or see it all the same by --dry-run or --output FILE (best with --threads: processes "
      "take turns on a GPU)");
}

// Adds a point with all its puts and, for a block, also one with a single put: blocks are put alone as often
// as in pairs, whereas faces across rows come in pairs.
void add_with_all_puts(std::vector<bench::PutPoint>& points, bench::PutPoint point) {
  points.push_back(point);
  point.puts = 1;
  if (point.shape.runs == 1) points.push_back(point);
}

std::vector<bench::PutPoint> tuning_points(World& world, const TuneOptions& options) {
  std::vector<bench::PutPoint> points;
  std::size_t turn = 0;
  for (const int across : destinations(world))
    for (const bench::PutShape& shape :
         across == 0 ? own_grid(sizes_of(options)) : tuning_grid(sizes_of(options)))
      if (turn++ % options.every == 0) add_with_all_puts(points, {shape, across});
  return points;
}

// One put in eight goes to the rank itself.
std::vector<bench::PutPoint> verifying_points(World& world, const TuneOptions& options) {
  const std::vector<int> where = destinations(world);
  std::vector<bench::PutPoint> points;
  std::size_t turn = 0;
  for (const bench::PutShape& shape : verifying_grid(sizes_of(options), options.seed, options.points)) {
    const std::size_t others = where.size() - 1;
    const int puts = shape.runs == 1 && turn % 8 == 0 ? 1 : bench::most_puts;
    points.push_back({shape, turn % 8 == 7 || others == 0 ? 0 : where[1 + turn % others], puts});
    ++turn;
  }
  return points;
}

// A rank's place of measurement: worlds of its own (null), or a world that exists already.
struct Place {
  World* world = nullptr;
  bool is_first() const { return (world != nullptr ? world->rank() : launched_rank()) == 0; }
};

// Runs one survey. The bar fills with the time used, and only rank 0 shows one.
Survey run_part(const Place& place, const TuneOptions& options, const std::string& label, double seconds,
                const PointsOf& points_of) {
  constexpr std::int64_t steps = 1000;
  Progress bar(label, place.is_first() ? steps : 0);
  SurveyOptions survey_options;
  survey_options.world.fabric = options.fabric;
  survey_options.seconds = seconds;
  const SurveyProgress progress = [&](double share, const std::string& note) {
    bar.update(static_cast<std::int64_t>(share * steps), note);
  };
  const PointsOf points = [&](World& world) {
    check_gpus(world, options);
    return points_of(world);
  };
  return place.world != nullptr ? survey(*place.world, points, survey_options, progress)
                                : survey(points, survey_options, progress);
}

// When all ranks of a hybrid world are in one sub-cluster, they are measured once more, with each rank in a
// sub-cluster of its own.
Survey run_survey(const Place& place, const TuneOptions& options, const PointsOf& points) {
  const bool hybrid = options.fabric.ends_with("+mpi");
  if (!hybrid) return run_part(place, options, "tca tune", options.seconds, points);
  Survey found = run_part(place, options, "tca tune", options.seconds / 2, points);
  if (found.sub_clusters > 1) return found;
  setenv("OPENTCA_SUBCLUSTER", "1", 1);
  Survey beyond =
      run_part(place, options, "tca tune, beyond the sub-cluster", options.seconds / 2, [&](World& world) {
        std::vector<bench::PutPoint> others = points(world);
        std::erase_if(others, [](const bench::PutPoint& point) { return point.across == 0; });
        return others;
      });
  found.points.insert(found.points.end(), beyond.points.begin(), beyond.points.end());
  found.passes += beyond.passes;
  return found;
}

// Takes over what an earlier run has found at distances that this one has not met.
void keep_other_distances(route::TuningTable& table, const fs::path& path) {
  try {
    table.complete_from(route::usable_table(
        route::read_table(path, true), {table.origin.hardware, table.origin.fabrics, table.origin.version}));
  } catch (const Error&) {
    // There is no earlier table that could serve.
  }
}

// Blocks the signals that end this process: ending in between would leave a draft beside the table.
class Uninterrupted {
 public:
  Uninterrupted() {
    sigset_t ends;
    sigemptyset(&ends);
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, number);
    sigprocmask(SIG_BLOCK, &ends, &before_);
  }
  ~Uninterrupted() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Uninterrupted(const Uninterrupted&) = delete;

 private:
  sigset_t before_{};
};

void store(route::TuningTable& table, const TuneOptions& options) {
  const fs::path path = options.output.empty()
                            ? route::tuning_path(table.origin.hardware, table.origin.fabrics)
                            : fs::path(options.output);
  if (options.output.empty()) make_cache(path);
  keep_other_distances(table, path);
  {
    const Uninterrupted meanwhile;
    if (const int error = base::write_whole(path, table.text()))
      refuse("{}: cannot be written: {}", path.string(), std::strerror(error));
  }
  fmt::print("table     {} holds {} pieces; {}\n", path.string(), table.all().size(),
             options.output.empty() ? "every later commit on this hardware chooses by it"
                                    : "commits choose by it where OPENTCA_TUNING names this file");
}

void draw_survey(const Survey& survey, const route::TuningTable& table, const std::string& output) {
  const TemporaryFile lines;
  append_json(survey, table, lines.path());
  const int code = draw({lines.path()}, output, "");
  if (code != 0) refuse("{} was not drawn; `tca tune --json FILE` keeps what was measured", output);
}

int tune_rank(const Place& place, const TuneOptions& options) {
  const Survey found =
      run_survey(place, options, [&](World& world) { return tuning_points(world, options); });
  if (!place.is_first()) return 0;
  if (found.passes == 0)
    throw Error(
        Errc::timed_out,
        "the ranks moved nearer or further in every pass, so nothing was measured; bind them to cores "
        "(--bind core), or try again when the machine is quieter");
  route::TuningTable table = table_of(found);
  if (options.trace) print_trace(found, table);
  if (options.verbose) print_summary(found, table);
  if (!options.json.empty()) append_json(found, table, options.json);
  print_outcome(found, table);
  if (options.dry_run)
    fmt::print("table     none is kept, because of --dry-run\n");
  else
    store(table, options);
  fmt::print(
      "next      tca tune --verify checks it by other puts; --verbose prints which channel is the cheapest "
      "when\n");
  if (!options.plot.empty()) draw_survey(found, table, options.plot);
  return 0;
}

int verify_rank(const Place& place, const TuneOptions& options) {
  const Survey found =
      run_survey(place, options, [&](World& world) { return verifying_points(world, options); });
  if (!place.is_first()) return 0;
  const Verdict verdict = verdict_of(found);
  if (options.trace) print_trace(found, {});
  print(verdict, found);
  if (!options.json.empty()) append_json(found, {}, options.json);
  return verdict.share(verdict.good) >= 0.95 ? 0 : 1;
}

int run_rank(const Place& place, const TuneOptions& options) {
  return options.verify ? verify_rank(place, options) : tune_rank(place, options);
}

int tune_threads(const TuneOptions& options) {
  int code = 0;
  WorldOptions world_options;
  world_options.fabric = options.fabric;
  World::run_threads(
      options.ranks,
      [&](World& world) {
        const int own = run_rank({&world}, options);
        if (world.rank() == 0) code = own;
      },
      world_options);
  return code;
}

int tune_command(const TuneOptions& options) {
  if (options.fabric == "sim") refuse("--fabric sim: a modelled machine is not tuned");
  if (!options.verify && !already_a_rank()) tell_of_another_table(options);
  // An existing table must not influence the new measurements.
  if (!options.verify) setenv("OPENTCA_TUNING", "off", 1);
  if (already_a_rank()) {
    const int refused = check_as_rank(options);
    return refused != 0 ? refused : run_rank({}, options);
  }
  check_before_launch(options);
  if (options.threads) return tune_threads(options);
  const LaunchOptions job{.name = "tca tune",
                          .ranks = options.ranks,
                          .argv = own_command_line(),
                          .argv_is_tca = true,
                          .bind = options.bind,
                          // Not set for mpirun, which would then be quiet about its own errors as well.
                          .fails_in_words = options.verify && !is_over_mpi(options.fabric)};
  return is_over_mpi(options.fabric) ? launch_under_mpirun(job) : launch(job);
}

}  // namespace

void add_tune(Subcommands& tca) {
  auto options = std::make_shared<TuneOptions>();
  CLI::App& app = tca.add("tune", "Measures what puts cost here, so that every later commit chooses by it",
                          "tca tune\n"
                          "tca tune --ranks 8 --plot tuning.svg\n"
                          "tca tune --verify\n"
                          "tca tune --fabric cuda --ranks 4",
                          [options] { return tune_command(*options); });
  add_ranks_option(app, "Number of ranks, which put in pairs", options->ranks, options->ranks_given);
  app.add_option("--fabric", options->fabric,
                 "Fabric to tune, each of which has a table of its own; shm when not given")
      ->envname("OPENTCA_FABRIC")
      ->check(any_fabric());
  add_sub_cluster_option(app, options->fabric);
  app.add_option("--seconds", options->seconds,
                 "Seconds to keep measuring after every put has been measured three times")
      ->check(between(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--every", options->every, "Measure only every Nth put, for a coarse table in a moment")
      ->check(between(1, 100))
      ->capture_default_str();
  app.add_option("-o,--output", options->output,
                 "File to write the table to; one in the user's cache when not given")
      ->type_name("FILE");
  app.add_flag("--dry-run", options->dry_run, "Measure, but keep no table");
  app.add_flag("--verbose", options->verbose,
               "Print for each kind of put which channel is the cheapest from which size");
  app.add_flag("--trace", options->trace, "Print every measurement");
  app.add_option("--plot", options->plot, "Draw curves and crossovers into this file: .svg, .png or .pdf")
      ->type_name("FILE");
  app.add_option("--json", options->json, "Append a line of JSON for each put and channel to this file")
      ->type_name("FILE");
  app.add_flag("--verify", options->verify,
               "Check the kept table: measure other puts, and print how many take a channel within 10 % of "
               "the best one");
  app.add_option("--seed", options->seed, "Seed of the random puts that --verify measures")
      ->check(between(std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()))
      ->capture_default_str();
  app.add_option("--points", options->points, "Number of puts that --verify measures")
      ->check(between(1, 100000))
      ->capture_default_str();
  app.add_flag("--threads", options->threads, "Run the ranks as threads of one process, on cuda");
  add_bind_option(app, options->bind);
  app.final_callback([&app, options] {
    check_known(app, {{"--points", options->verify, "--verify"},
                      {"--seed", options->verify, "--verify"},
                      {"--every", !options->verify, "measuring a table, not for --verify"},
                      {"--output", !options->dry_run, "a table that is kept, not for --dry-run"}});
  });
}

}  // namespace tca::tool
