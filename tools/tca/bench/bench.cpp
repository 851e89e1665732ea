// `tca bench`: measures what a put, an exchange of faces and a collective cost, beside the peers and in the
// same job.
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>

#include "bench/coll.hpp"
#include "bench/commit.hpp"
#include "bench/gpu.hpp"
#include "bench/options.hpp"
#include "bench/overlap.hpp"
#include "bench/report.hpp"
#include "cli/launch/cores.hpp"
#include "cli/launch/launch.hpp"
#include "cli/launch/rank_job.hpp"
#include "cli/options/bytes.hpp"
#include "cli/options/mpi_options.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/faults.hpp"
#include "cli/subcommand.hpp"
#include "measure/crowding.hpp"
#include "measure/measure.hpp"
#include "measure/placement.hpp"
#include "shared/mpi_session.hpp"
#include "tca/tca.hpp"

namespace tca::tool {
namespace {

template <class Contender>
void add(bench::Contenders<Contender>& all, std::unique_ptr<Contender> contender) {
  if (contender != nullptr) all.push_back(std::move(contender));
}

bench::Contenders<bench::PingPong> make_ping_pongs(World& world, const BenchOptions& options,
                                                   std::size_t bytes) {
  bench::Contenders<bench::PingPong> all;
  add(all, bench::chain_ping_pong(world, bytes, own_way(options)));
  if (options.against("counted")) {
    bench::Way counted = own_way(options);
    counted.counted = true;
    add(all, bench::chain_ping_pong(world, bytes, counted));
  }
  if (options.against("post")) add(all, bench::post_ping_pong(world, bytes, own_way(options)));
  if (options.against("mpi")) add(all, bench::mpi_ping_pong(world, bytes));
  if (options.against("hand")) {
    add(all, bench::hand_ping_pong(world, bytes));
    add(all, bench::hand_ping_pong(world, 0));
  }
  return all;
}

void ping_pong(World& world, const BenchOptions& options) {
  static const std::vector<std::size_t> own_sizes{8, 64, 512, 4096, 32768, 262144, 2097152, 8388608};
  const BenchReport report(options, world);
  report.header("bytes, one way");
  for (const std::size_t bytes : options.sizes.empty() ? own_sizes : options.sizes) {
    const auto outcome = [&] {
      Progress bar = bench_progress(world, options, fmt::format("{} bytes", bytes));
      return bench::measure(
          world, [&] { return make_ping_pongs(world, options, bytes); }, options.effort,
          [&](int rounds) { bar.update(rounds); });
    }();
    if (world.rank() != 0) continue;
    std::vector<BenchReport::Row> rows;
    for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
      const bench::PingPong& who = *outcome.contenders[i];
      Record record = report.record(who);
      record.layout = "block";
      record.n = static_cast<std::int64_t>(bytes);
      record.bytes = who.peer == "flag" ? 0 : record.n;
      record.samples_us = outcome.samples[i];
      rows.push_back({name_of(who), record});
    }
    report.rows(std::to_string(bytes), std::move(rows));
  }
}

// The bare step comes first.
bench::Contenders<bench::FaceExchange> make_exchanges(World& world, const BenchOptions& options,
                                                      const bench::Face& face) {
  bench::Contenders<bench::FaceExchange> all;
  add(all, bench::no_exchange(world, face));
  add(all, bench::chain_faces(world, face, own_way(options)));
  if (options.against("mpi")) add(all, bench::mpi_faces(world, face));
  if (options.against("hand")) {
    for (const char* way : {"direct", "pull", "staged"}) add(all, bench::hand_faces(world, face, way));
  }
  return all;
}

void halo_of(World& world, const BenchOptions& options, const BenchReport& report, const bench::Face& face) {
  const auto outcome = [&] {
    Progress bar = bench_progress(world, options, fmt::format("{} {}", face.n, face.layout));
    return bench::measure(
        world, [&] { return make_exchanges(world, options, face); }, face, options.effort,
        [&](int rounds) { bar.update(rounds); });
  }();
  if (world.rank() != 0) return;
  const bench::Samples& bare = outcome.samples[0];
  std::vector<BenchReport::Row> rows;
  for (std::size_t i = 1; i < outcome.contenders.size(); ++i) {
    const bench::FaceExchange& who = *outcome.contenders[i];
    Record record = report.record(who);
    record.layout = face.layout;
    record.n = static_cast<std::int64_t>(face.n);
    record.bytes = static_cast<std::int64_t>(2 * face.bytes());
    record.samples_us = bench::beyond(outcome.samples[i], bare);
    record.extra["step_us"] = rounded(median(outcome.samples[i]));
    rows.push_back({name_of(who), record});
  }
  report.rows(fmt::format("{} {} {}", face.n, face.layout, face.bytes()), std::move(rows));
}

void halo(World& world, const BenchOptions& options) {
  const BenchReport report(options, world);
  report.header("n, layout, bytes a face");
  for (const std::size_t n : options.extents) {
    for (const std::string& layout : options.layouts)
      halo_of(world, options, report, bench::Face::make(layout, n));
  }
}

void check_modelled(const BenchOptions& options) {
  if (!options.peers.empty())
    refuse("--peer {}: there is nothing on a modelled machine to compare with", options.peers[0]);
  net::check_ranks(modelled(options), static_cast<std::uint64_t>(options.ranks));
}

void check_host(const BenchOptions& options) {
  if (options.fabric == "sim") check_modelled(options);
  for (const std::string& peer : options.peers) {
    const bool is_own = peer == "counted" || peer == "post";
    if (is_own && options.what != "pingpong") refuse("--peer {} is for pingpong", peer);
    if (peer != "mpi" && peer != "hand" && !is_own) refuse("--peer {} is for --fabric cuda", peer);
  }
  for (const std::string& start : options.asked_starts) {
    if (start != "host")
      refuse("--start {} is for --fabric cuda; on {} the host starts chains", start, options.fabric);
  }
  if (is_coll(options.what)) return check_coll_bench(options);
  if (options.what != "pingpong" && options.what != "halo" && options.what != "commit")
    refuse("{} is measured on GPUs: add --fabric cuda", options.what);
}

void measure_on_host(World& world, const BenchOptions& options) {
  if (is_coll(options.what)) {
    run_coll_bench(world, options);
  } else if (options.what == "commit") {
    run_commit_bench(world, options);
  } else if (options.what == "overlap") {
    run_overlap_bench(world, options);
  } else if (options.what == "pingpong") {
    ping_pong(world, options);
  } else {
    halo(world, options);
  }
}

void run_host(World& world, const BenchOptions& options) {
  const int processors = bench::processors_of(bench::places(world));
  const bench::Crowding crowding;
  measure_on_host(world, options);
  if (world.rank() != 0) return;
  if (const std::string words = crowding.in_words(world.size(), processors); !words.empty())
    fmt::print("\n{}", words);
}

// Ranks take turns on this thread. One placement and short samples suffice: on sim a step takes the same time wherever its
// memory lies and whatever else this host does.
int run_modelled(BenchOptions options) {
  options.effort.placements = 1;
  options.effort.sample_us = 0;
  const WorldOptions world_options{.fabric = options.fabric,
                                   .machine = options.machine,
                                   .fidelity = options.fidelity,
                                   .faults = faults_by_option(options.faults),
                                   .fibers = true};
  if (options.what == "commit")
    run_modelled_commit_bench(options, world_options);
  else
    run_threads_and_tell(
        options.ranks, [&options](World& world) { measure_on_host(world, options); }, world_options);
  return 0;
}

#ifndef OPENTCA_HAVE_CUDA
}  // namespace
void check_gpu_bench(const BenchOptions&) {}
void run_gpu_bench(World&, const BenchOptions&) {}
namespace {
#endif

// MPI takes the count of what it moves, bytes or for sums doubles, as an int.
void check_against_mpi(const BenchOptions& options) {
  check_built_with_mpi("--peer mpi");
  const bool sums = is_sum(options.what);
  for (const std::size_t bytes : options.sizes) {
    if (bytes / (sums ? sizeof(double) : 1) > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      refuse("--bytes {}: MPI moves at most {} {} at once; leave --peer mpi out", bytes,
             std::numeric_limits<int>::max(), sums ? "doubles" : "bytes");
  }
}

void check(const BenchOptions& options) {
  if ((options.what == "pingpong" || options.what == "put") && options.ranks < 2)
    refuse("a {} needs 2 ranks", options.what == "put" ? "put" : "ping-pong");
  check_number_of_ranks(options.fabric, options.ranks);
  check_writable(options.json);
  check_machine(options.fabric, options.machine);
  check_built(options.fabric);
  check_bind(options.bind, options.fabric, false);
  if (options.against("mpi")) check_against_mpi(options);
  check_for_model("--fidelity", "OPENTCA_FIDELITY", options.fidelity, options.fabric);
  check_faults(options.fabric, options.faults);
  const bool on_gpus = boot::on_gpus(options.fabric);
  if (options.what == "commit") check_commit_bench(options);
  if (options.what == "overlap") return check_overlap_bench(options);
  on_gpus ? check_gpu_bench(options) : check_host(options);
}

void check_options(const CLI::App& app, const BenchOptions& options) {
  const auto measures = [&](const char* what) { return options.what == what; };
  const bool on_gpus = boot::on_gpus(options.fabric), is_halo = measures("halo"), is_put = measures("put"),
             is_commit = measures("commit"), is_modelled = options.fabric == "sim";
  check_known(app, {{"--algorithm", is_coll(options.what), "collectives"},
                    {"--progress", measures("overlap") && !on_gpus, "overlap on hosts"},
                    {"--points", measures("overlap") && !on_gpus, "overlap on hosts"},
                    {"--bytes", !is_halo && !is_commit, "all but halo, which has --extent, and commit"},
                    {"--extent", is_halo, "halo"},
                    {"--layout", is_halo || is_put, "halo and put"},
                    {"--rows", is_put, "put"},
                    {"--rows", options.has_layout("block-stride"), "--layout block-stride"},
                    {"--descriptors", is_commit && !is_modelled, "commit on shm"},
                    {"--unguarded", !is_commit, "chains that are started"},
                    {"--blocks", on_gpus, "--fabric cuda and cuda+mpi"},
                    {"--threads", on_gpus, "--fabric cuda and cuda+mpi"},
                    {"--placements", !is_modelled, "memory of this host, not for --fabric sim"}});
  if (is_put && app.count("--layout") > 0 && options.has_layout("stride"))
    refuse("--layout stride is for halo; a put is a block or block-stride");
}

int run_bench(const BenchOptions& options) {
  check(options);
  if (options.fabric == "sim") return run_modelled(options);
  if (!already_a_rank()) {
    // A library's helper threads would share the one core with the rank that waits for its GPU, and so would
    // the progress thread with the rank that computes. Ranks with a progress thread are left unbound only
    // where there are cores for both.
    const bool has_helpers = boot::on_gpus(options.fabric) ||
                             (options.progresses_by("thread") && usable_cores() >= 2 * options.ranks);
    Binding bind = options.bind;
    if (has_helpers && bind.how == Bind::automatic) bind.how = Bind::none;
    const LaunchOptions job{.name = "tca bench",
                            .ranks = options.ranks,
                            .argv = own_command_line(),
                            .argv_is_tca = true,
                            .bind = bind};
    if (!options.against("mpi") && !is_over_mpi(options.fabric)) return launch(job);
    return launch_under_mpirun(job);
  }
  // The options on the command line count, not the environment.
  if (options.what == "overlap") unsetenv("OPENTCA_PROGRESS_THREAD");
  const WorldOptions world_options{.fabric = options.fabric,
                                   .engine_blocks = options.starts_by("engine") ? 1 : 0,
                                   .faults = faults_by_option(options.faults),
                                   .progress_thread = options.progresses_by("thread")};
  const auto check_ranks = [&](int ranks) {
    check_launched(ranks, options.ranks_given ? options.ranks : ranks, false);
  };
  return run_as_one_rank(world_options, check_ranks, [&](World& world) {
    std::optional<apps::MpiSession> mpi;
    if (options.against("mpi")) mpi.emplace(world);
    boot::on_gpus(options.fabric) ? run_gpu_bench(world, options) : run_host(world, options);
    return 0;
  });
}

void add_sizes(CLI::App& app, BenchOptions& options) {
  add_ranks_option(app, "Number of ranks", options.ranks, options.ranks_given, most_modelled_ranks);
  takes_bytes(app.add_option("--bytes", options.sizes,
                             "Sizes of messages, or of arrays to sum; the benchmark's own when not given"),
              1, std::int64_t{1} << 40)
      ->delimiter(',');
  app.add_option("--extent", options.extents,
                 "Edge lengths, in cells, of the cube of doubles whose faces are exchanged")
      ->check(between(3, 65536))
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--layout", options.layouts,
                 "Layouts of the faces that are exchanged; of a put block and block-stride")
      ->delimiter(',')
      ->check(one_of({"block", "block-stride", "stride"}))
      ->capture_default_str();
  takes_bytes(app.add_option("--rows", options.rows, "Lengths of a row of a block-stride put"), 1, 1 << 30)
      ->delimiter(',')
      ->capture_default_str();
}

}  // namespace

void add_bench(Subcommands& tca) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App& app = tca.add(
      "bench", "Measures puts, exchanges of faces and collectives, beside peers if asked",
      "tca bench pingpong --peer mpi,hand\n"
      "tca bench allreduce --ranks 4 --bytes 8,4K --peer mpi --json allreduce.jsonl\n"
      "tca bench bcast --fabric shm+mpi --sub-cluster 4 --ranks 8 --peer mpi\n"
      "tca bench overlap --fabric mpi --bytes 64K,1M --progress none,points --peer mpi\n"
      "tca bench halo --ranks 2 --extent 64 --layout stride --peer mpi --json halo.jsonl\n"
      "tca bench pingpong --fabric cuda --start kernel,graph --peer nccl,nvshmem --json pingpong.jsonl\n"
      "tca bench overlap --fabric cuda --bytes 1M,16M --start graph --peer nccl,nccl-copy-engine\n"
      "tca bench put --fabric cuda --layout block-stride --rows 256,4K --bytes 256M --peer copy\n"
      "tca bench pingpong --fabric sim --machine peach3 --json peach3.json",
      [options] { return run_bench(*options); });
  app.add_option("WHAT", options->what,
                 "What to measure; commit is measured on shm and sim, overlap on shm, over MPI and on cuda, "
                 "put on cuda, the rest everywhere. In every step each contender writes all that it sends "
                 "and reads all that arrives; the time is the slowest rank's (docs/results.md)")
      ->required()
      ->check(one_of({"pingpong", "halo", "put", "commit", "overlap", "barrier", "bcast", "allgather",
                      "allreduce", "reduce_scatter", "alltoall"}));
  app.add_option(
         "--fabric", options->fabric,
         "What carries the bytes: shm (this host's memory), mpi, shm+mpi (shm within sub-clusters, mpi "
         "across), cuda (GPUs, a process each), cuda+mpi (GPUs within sub-clusters, mpi across) or sim (a "
         "modelled machine, in its own time)")
      ->envname("OPENTCA_FABRIC")
      ->check(any_fabric())
      ->capture_default_str();
  app.add_option("--machine", options->machine,
                 "Machine to model on sim: the name or the path of a machine file")
      ->envname("OPENTCA_MACHINE");
  app.add_option("--fidelity", options->fidelity,
                 "Level of detail on sim: rtl simulates the hubs' own RTL, tlp models every packet, train "
                 "whole transfers, flow shared rates")
      ->envname("OPENTCA_FIDELITY")
      ->check(one_of({"tlp", "train", "flow", "rtl"}));
  add_fault_option(app, options->faults);
  add_sub_cluster_option(app, options->fabric);
  add_sizes(app, *options);
  app.add_option(
         "--peer", options->peers,
         "Peers to measure beside OpenTCA in the same job: on hosts mpi, hand for hand-written shared "
         "memory, and counted or post for a ping-pong of counted puts or of posts; on cuda nccl, "
         "nccl-windows for its calls on symmetric windows, nccl-copy-engine for its collectives that take no "
         "kernel, nccl-device for kernels by its device API, nvshmem, mscclpp, mpi, copy for "
         "cudaMemcpyAsync, and produced for messages and faces that a kernel produces, beside faces that it "
         "packs")
      ->delimiter(',')
      ->check(one_of({"mpi", "hand", "counted", "post", "nccl", "nccl-windows", "nccl-copy-engine",
                      "nccl-device", "nvshmem", "mscclpp", "copy", "produced"}));
  app.add_option("--start", options->asked_starts,
                 "What starts chains on cuda; kernel, graph and host when not given")
      ->delimiter(',')
      ->check(one_of({"kernel", "graph", "host", "engine"}));
  app.add_option(
      "--channel", options->channel,
      "Channel to force: direct, pull or staged; on mpi datatype, packed or rma; on cuda ll, direct or "
      "copy_engine");
  app.add_option("--algorithm", options->algorithms,
                 "Algorithms of a collective to force, measured in turn, such as ring or flat, on cuda "
                 "kernel_ll or kernel_direct")
      ->delimiter(',');
  app.add_option("--descriptors", options->descriptors,
                 "Number of descriptors in the chain whose commit is measured")
      ->check(between(1, 65536))
      ->capture_default_str();
  app.add_option("--progress", options->progress,
                 "What moves an exchange on while the application computes: none, points (where it calls "
                 "World::progress), thread (over MPI, alone); none and points when not given")
      ->delimiter(',')
      ->check(one_of({"none", "points", "thread"}));
  app.add_option("--points", options->points,
                 "Number of points in the computation where World::progress is called; 9 when not given")
      ->check(between(1, 1000000));
  app.add_flag("--unguarded", options->unguarded, "Measure chains without the guard");
  app.add_option("--blocks", options->blocks,
                 "CUDA blocks per kernel that runs a chain; 0: chosen by message size")
      ->check(between(0, 1024));
  app.add_option("--threads", options->threads, "CUDA threads per block; 0: chosen by message size")
      ->check(between(0, 256));
  app.add_option("--rounds", options->effort.rounds,
                 "Number of samples of each contender for each placement in memory")
      ->check(between(1, 1000000))
      ->capture_default_str();
  app.add_option("--placements", options->effort.placements,
                 "Number of placements in memory, each of new allocations")
      ->check(between(1, 1000000))
      ->capture_default_str();
  app.add_option("--json", options->json, "Append a line of JSON for each result to this file")
      ->type_name("FILE");
  add_bind_option(app, options->bind);
  app.final_callback([&app, options] { check_options(app, *options); });
}

}  // namespace tca::tool
