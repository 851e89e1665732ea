// `tca bench`: what a put and an exchange of faces cost, beside the peers, in one job.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "launch.hpp"
#include "measure.hpp"
#include "progress.hpp"
#include "record.hpp"
#include "subcommand.hpp"
#include "tca/tca.hpp"

namespace tca::tool {
namespace {

struct Options {
  std::string what;
  int ranks = 2;
  std::vector<std::size_t> sizes{8, 64, 512, 4096, 32768, 262144, 2097152, 8388608};
  std::vector<std::size_t> extents{32, 64, 128};
  std::vector<std::string> layouts{"block", "block-stride", "stride"};
  std::vector<std::string> peers;
  std::string route;
  bool unguarded = false;
  std::string json;
  bench::Effort effort;
  Bind bind = Bind::automatic;

  bool against(const char* peer) const { return std::find(peers.begin(), peers.end(), peer) != peers.end(); }
};

// One line of the table, and of the file: `own` and the peers, as measured for one size.
class Report {
 public:
  Report(const Options& options, const World& world) : options_(options), world_(world) {}

  void header(const char* first) const {
    if (world_.rank() != 0) return;
    fmt::print("{:<24}{:<34}{:>12}{:>12}{:>10}{:>9}\n", first, "who", "median us", "p99 us", "GB/s", "ratio");
  }

  // `ratio` is a peer's median over OpenTCA's own.
  void line(const std::string& first, const bench::Contender& who, const Record& record,
            double own_median) const {
    const double median = quantile(record.samples_us, 0.5);
    const std::string name = who.peer.empty() ? fmt::format("OpenTCA {}/{}{}", who.fabric, who.protocol,
                                                            who.guarded ? "" : ", unguarded")
                                              : fmt::format("{}", who.peer);
    fmt::print("{:<24}{:<34}{:>12.4g}{:>12.4g}{:>10.4g}{:>9}\n", first, name, median,
               quantile(record.samples_us, 0.99), static_cast<double>(record.bytes) / median * 1e-3,
               who.peer.empty() ? "" : fmt::format("{:.2f}", median / own_median));
    if (!options_.json.empty()) append_line(options_.json, record.line());
  }

  Record record(const bench::Contender& who) const {
    Record record;
    record.bench = options_.what;
    record.fabric = who.fabric;
    record.protocol = who.protocol;
    if (!who.peer.empty()) record.peer = who.peer;
    record.ranks = world_.size();
    if (options_.against("mpi")) record.mpi_version = bench::mpi_version();
    record.extra["guarded"] = who.guarded;
    return record;
  }

 private:
  const Options& options_;
  const World& world_;
};

template <class Contender>
void add(bench::Contenders<Contender>& all, std::unique_ptr<Contender> contender) {
  if (contender != nullptr) all.push_back(std::move(contender));
}

// On rank 0's terminal alone.
Progress progress_bar(const World& world, const Options& options, const std::string& label) {
  const bool shown = world.rank() == 0;
  return {shown ? label : "", shown ? options.effort.rounds * options.effort.placements : 0};
}

bench::Contenders<bench::PingPong> make_ping_pongs(World& world, const Options& options, std::size_t bytes) {
  bench::Contenders<bench::PingPong> all;
  add(all, bench::chain_ping_pong(world, {bytes, options.route, !options.unguarded}));
  if (options.against("mpi")) add(all, bench::mpi_ping_pong(world, bytes));
  if (options.against("hand")) {
    add(all, bench::hand_ping_pong(world, bytes));
    add(all, bench::hand_ping_pong(world, 0));
  }
  return all;
}

void ping_pong(World& world, const Options& options) {
  const Report report(options, world);
  report.header("bytes, one way");
  for (const std::size_t bytes : options.sizes) {
    const auto outcome = [&] {
      Progress bar = progress_bar(world, options, fmt::format("{} bytes", bytes));
      return bench::measure(
          world, [&] { return make_ping_pongs(world, options, bytes); }, options.effort,
          [&](int rounds) { bar.update(rounds); });
    }();
    for (std::size_t i = 0; i < outcome.contenders.size() && world.rank() == 0; ++i) {
      const bench::PingPong& who = *outcome.contenders[i];
      Record record = report.record(who);
      record.layout = "block";
      record.n = static_cast<std::int64_t>(bytes);
      record.bytes = who.peer == "flag" ? 0 : record.n;
      record.samples_us = outcome.samples[i];
      report.line(std::to_string(bytes), who, record, quantile(outcome.samples[0], 0.5));
    }
  }
}

// What a step costs beyond the same step without the exchange, round by round.
bench::Samples beyond(const bench::Samples& step, const bench::Samples& bare) {
  bench::Samples cost;
  for (std::size_t i = 0; i < step.size(); ++i) cost.push_back(step[i] - bare[i]);
  return cost;
}

// The bare step first.
bench::Contenders<bench::FaceExchange> make_exchanges(World& world, const Options& options,
                                                      const bench::Face& face) {
  bench::Contenders<bench::FaceExchange> all;
  add(all, bench::no_exchange(world, face));
  add(all, bench::chain_faces(world, face, options.route, !options.unguarded));
  if (options.against("mpi")) add(all, bench::mpi_faces(world, face));
  if (options.against("hand")) {
    for (const char* way : {"direct", "pull", "staged"}) add(all, bench::hand_faces(world, face, way));
  }
  return all;
}

void halo_of(World& world, const Options& options, const bench::Face& face) {
  const auto outcome = [&] {
    Progress bar = progress_bar(world, options, fmt::format("{} {}", face.n, face.layout));
    return bench::measure(
        world, [&] { return make_exchanges(world, options, face); }, face, options.effort,
        [&](int rounds) { bar.update(rounds); });
  }();
  if (world.rank() != 0) return;
  const Report report(options, world);
  const bench::Samples& bare = outcome.samples[0];
  const double own = quantile(beyond(outcome.samples[1], bare), 0.5);
  for (std::size_t i = 1; i < outcome.contenders.size(); ++i) {
    const bench::FaceExchange& who = *outcome.contenders[i];
    Record record = report.record(who);
    record.layout = face.layout;
    record.n = static_cast<std::int64_t>(face.n);
    record.bytes = static_cast<std::int64_t>(2 * face.bytes());
    record.samples_us = beyond(outcome.samples[i], bare);
    record.extra["step_us"] = quantile(outcome.samples[i], 0.5);
    report.line(fmt::format("{} {} {}", face.n, face.layout, face.bytes()), who, record, own);
  }
}

void halo(World& world, const Options& options) {
  Report(options, world).header("n, layout, bytes a face");
  for (const std::size_t n : options.extents) {
    for (const std::string& layout : options.layouts) halo_of(world, options, bench::Face::make(layout, n));
  }
}

void check(const Options& options) {
  const auto refuse = [](const std::string& message) { throw Error(Errc::invalid_argument, message); };
  if (options.what == "pingpong" && options.ranks < 2) refuse("a ping-pong needs 2 ranks");
  for (const std::size_t n : options.extents) {
    if (n < 3) refuse(fmt::format("a cube of {} has no interior; --extent must be at least 3", n));
  }
  for (const std::size_t bytes : options.sizes) {
    if (bytes < 1) refuse("--bytes must be at least 1");
  }
  if (options.effort.rounds < 1 || options.effort.placements < 1)
    refuse("--rounds and --placements must be at least 1");
}

int run_bench(const Options& options) {
  check(options);
  if (!already_a_rank()) {
    const LaunchOptions job{
        .name = "tca bench", .ranks = options.ranks, .argv = own_command_line(), .bind = options.bind};
    if (!options.against("mpi")) return launch(job);
    if (bench::have_mpi()) return launch_under_mpirun(job);
    throw Error(
        Errc::invalid_argument,
        "this build has no MPI to compare with; install libopenmpi-dev and openmpi-bin and build again");
  }
  World world = World::init();
  if (options.what == "pingpong") {
    ping_pong(world, options);
  } else {
    halo(world, options);
  }
  return 0;
}

}  // namespace

void add_bench(Subcommands& tca) {
  auto options = std::make_shared<Options>();
  CLI::App& app = tca.add("bench", "Measures a put or an exchange of faces, beside peers if asked",
                          "tca bench pingpong --peer mpi,hand\n"
                          "tca bench halo --ranks 2 --extent 64 --layout stride --peer mpi --json halo.json",
                          [options] { return run_bench(*options); });
  app.add_option("WHAT", options->what, "pingpong or halo")
      ->required()
      ->check(CLI::IsMember({"pingpong", "halo"}));
  app.add_option("-n,--ranks", options->ranks, "How many ranks")->capture_default_str();
  app.add_option("--bytes", options->sizes, "Message sizes of a ping-pong")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--extent", options->extents, "Extents of the cube of doubles")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--layout", options->layouts, "Faces: block, block-stride, stride")
      ->delimiter(',')
      ->check(CLI::IsMember({"block", "block-stride", "stride"}))
      ->capture_default_str();
  app.add_option("--peer", options->peers, "mpi, and hand for hand-written shared memory; in the same job")
      ->delimiter(',')
      ->check(CLI::IsMember({"mpi", "hand"}));
  app.add_option("--route", options->route, "Force a channel: direct, pull or staged");
  app.add_flag("--unguarded", options->unguarded, "Chains without the guard");
  app.add_option("--rounds", options->effort.rounds, "Samples of each for a placement in memory")
      ->capture_default_str();
  app.add_option("--placements", options->effort.placements, "How often each gets new memory")
      ->capture_default_str();
  app.add_option("--json", options->json, "Append a line for each result to this file");
  add_bind_option(app, options->bind);
}

}  // namespace tca::tool
