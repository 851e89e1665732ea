// `tca bench --fabric cuda`: measures chains and collectives started by kernels, graphs, the host and the
// engine, beside the peers and in the same job.
#include "bench/gpu.hpp"

#include <fmt/format.h>

#include "bench/coll.hpp"
#include "bench/overlap.hpp"
#include "bench/report.hpp"
#include "cli/options/mpi_options.hpp"
#include "cli/options/refuse.hpp"
#include "gpu/in_turn.hpp"
#include "gpu/machine.hpp"
#include "gpu/overlap.hpp"
#include "tca/tca.hpp"

namespace tca::tool {
namespace {

namespace gpu = bench::gpu;

// One measurement: its first column, the contents of its records, and how its contenders are made.
struct Case {
  std::string label, layout;
  std::size_t n, bytes;
  nlohmann::ordered_json extra = nlohmann::ordered_json::object();
  std::function<gpu::Contenders()> make;
  double of_a_step = 1;  // share of a step's time that a sample reports: half for a round trip
};

class GpuBench {
 public:
  GpuBench(World& world, const BenchOptions& options)
      : world_(world), options_(options), report_(options, world), machine_(gpu::machine(world)) {
    for (const std::string& name : options.peers)
      if (name != "counted" && name != "post") peers_.push_back(gpu::open_peer(name, world));
  }

  void run() {
    if (options_.what == "pingpong") return ping_pong();
    if (options_.what == "halo") return halo();
    if (options_.what == "allreduce") return allreduce();
    if (is_coll(options_.what)) return collective();
    if (options_.what == "overlap") return overlap();
    put();
  }

 private:
  void ping_pong();
  void halo();
  void allreduce();
  void collective();
  void put();
  void overlap();
  void overlap(std::size_t bytes, bool of_memory);
  std::vector<std::unique_ptr<gpu::Passing>> passing(std::size_t bytes);
  void measure(const Case& one);
  Record record(const Case& one, const gpu::Contender& who) const;
  std::vector<gpu::Way> ways(bool with_scopes) const;
  std::vector<std::size_t> sizes(std::vector<std::size_t> own) const {
    return options_.sizes.empty() ? own : options_.sizes;
  }

  // Returns the algorithms to force; "" stands for the one that a collective takes by itself.
  std::vector<std::string> algorithms() const {
    return options_.algorithms.empty() ? std::vector<std::string>{""} : options_.algorithms;
  }

  // Returns OpenTCA in each of its ways, then the peers.
  template <class Own, class Theirs>
  gpu::Contenders everybody(const std::vector<gpu::Way>& own_ways, Own own, Theirs theirs) {
    gpu::Contenders all;
    for (const gpu::Way& way : own_ways) all.push_back(own(way));
    for (const auto& peer : peers_) {
      for (auto& contender : theirs(*peer)) all.push_back(std::move(contender));
    }
    return all;
  }

  World& world_;
  const BenchOptions& options_;
  BenchReport report_;
  gpu::Machine machine_;
  std::vector<std::unique_ptr<gpu::Peer>> peers_;
};

std::vector<gpu::Way> GpuBench::ways(bool with_scopes) const {
  std::vector<gpu::Way> all;
  for (const std::string& start : options_.starts()) {
    gpu::Way way{
        start,          "parts", options_.channel, !options_.unguarded, {options_.blocks, options_.threads},
        options_.fabric};
    all.push_back(way);
    if (start != "kernel" || !with_scopes) continue;
    way.scope = "grid";
    all.push_back(way);
  }
  return all;
}

void GpuBench::ping_pong() {
  report_.header("bytes, one way", machine_.describe());
  for (const std::size_t bytes : sizes({8, 4096, 65536, 1048576})) {
    const gpu::Rows rows = gpu::Rows::block(bytes);
    const auto make = [&, rows] {
      std::vector<gpu::Way> all = ways(false);
      if (options_.against("counted")) {
        for (gpu::Way& way : ways(false)) {
          way.counted = true;
          if (way.start != "engine") all.push_back(way);
        }
      }
      if (options_.against("post")) {
        for (gpu::Way& way : ways(false)) {
          way.posted = true;
          if (way.start == "graph" || way.start == "host") all.push_back(way);
        }
      }
      return everybody(
          all,
          [&](const gpu::Way& way) {
            return way.posted ? gpu::post_ping_pong(world_, rows, way)
                              : gpu::chain_ping_pong(world_, rows, way);
          },
          [&](gpu::Peer& peer) { return peer.ping_pong(rows); });
    };
    measure({.label = std::to_string(bytes),
             .layout = "block",
             .n = bytes,
             .bytes = bytes,
             .make = make,
             .of_a_step = 0.5});
  }
}

void GpuBench::halo() {
  report_.header("n, layout, bytes a face", machine_.describe());
  for (const std::size_t n : options_.extents) {
    for (const std::string& layout : options_.layouts) {
      const bench::Face face = bench::Face::make(layout, n);
      const auto make = [&, face] {
        return everybody(
            ways(true), [&](const gpu::Way& way) { return gpu::chain_faces(world_, face, way); },
            [&](gpu::Peer& peer) { return peer.faces(face); });
      };
      measure({.label = fmt::format("{} {} {}", n, layout, face.bytes()),
               .layout = layout,
               .n = n,
               .bytes = 2 * face.bytes(),
               .make = make});
    }
  }
}

// Measures a collective where the host starts it, and a team where a kernel does. Both appear side by side
// when a kernel start has been asked for and the sum is small enough for a team.
void GpuBench::allreduce() {
  constexpr std::size_t most_by_team = 65536, most_by_grid = 8192;
  report_.header("bytes", machine_.describe());
  for (const std::size_t bytes : sizes({8, 1024, 8192, 65536, 1048576, 16777216, 67108864})) {
    const std::size_t count = bytes / sizeof(double);
    const auto make = [&, count, bytes] {
      std::vector<gpu::Way> by_kernel, by_host;
      for (const gpu::Way& way : ways(false)) (way.start == "kernel" ? by_kernel : by_host).push_back(way);
      if (bytes > most_by_team) by_kernel.clear();
      gpu::Contenders all;
      for (const gpu::Way& way : by_host) {
        for (const std::string& algorithm : algorithms())
          all.push_back(gpu::coll_sums(world_, count, algorithm, way));
      }
      for (auto& other : everybody(
               by_kernel, [&](const gpu::Way& way) { return gpu::team_sums(world_, count, way); },
               [&](gpu::Peer& peer) { return peer.sums(count); }))
        all.push_back(std::move(other));
      for (const gpu::Way& way : by_kernel) {
        if (bytes > most_by_grid) break;
        for (const char* how : {"grid", "barriers"}) all.push_back(gpu::grid_sums(world_, count, how, way));
      }
      return all;
    };
    measure({.label = std::to_string(bytes), .layout = "block", .n = count, .bytes = bytes, .make = make});
  }
}

// `bytes` is the size of one rank's block, or of the whole broadcast.
void GpuBench::collective() {
  const std::string& what = options_.what;
  std::vector<std::size_t> own{8, 1024, 8192, 65536, 1048576, 16777216};
  if (what == "bcast") own.push_back(67108864);
  if (what == "barrier") own = {0};
  report_.header("bytes, a block", machine_.describe());
  std::vector<gpu::Way> by_host;
  for (const gpu::Way& way : ways(false))
    if (way.start == "graph" || way.start == "host") by_host.push_back(way);
  for (const std::size_t bytes : sizes(own)) {
    const auto make = [&, bytes] {
      bench::CollTask task{what, bytes, options_.fabric, {}, {}};
      gpu::Contenders all;
      for (const gpu::Way& way : by_host) {
        for (const std::string& algorithm : algorithms()) {
          task.algorithm = algorithm;
          all.push_back(gpu::coll_blocks(world_, task, way));
        }
      }
      for (const auto& peer : peers_) {
        for (auto& contender : peer->blocks(task)) all.push_back(std::move(contender));
      }
      return all;
    };
    measure({.label = std::to_string(bytes),
             .layout = "block",
             .n = what == "reduce_scatter" ? bytes / sizeof(double) : bytes,
             .bytes = bytes,
             .make = make,
             .of_a_step = what == "bcast" ? 0.5 : 1});
  }
}

void GpuBench::put() {
  report_.header("bytes, layout", machine_.describe());
  const auto measure_rows = [&](const gpu::Rows& rows, const std::string& layout) {
    std::vector<gpu::Way> own = ways(false);
    for (gpu::Way way : ways(false)) {
      way.guarded = false;
      if (!options_.unguarded) own.push_back(way);
    }
    const auto make = [&, rows] {
      return everybody(
          own, [&](const gpu::Way& way) { return gpu::chain_put(world_, rows, way); },
          [&](gpu::Peer& peer) { return peer.put(rows); });
    };
    measure({.label = fmt::format("{} {}{}", rows.bytes(), layout,
                                  rows.rows > 1 ? fmt::format(" {}", rows.row) : ""),
             .layout = layout,
             .n = rows.bytes(),
             .bytes = rows.bytes(),
             .extra = {{"row_bytes", rows.row}},
             .make = make});
  };
  for (const std::size_t bytes : sizes({1048576, 16777216, 268435456})) {
    for (const std::string& layout : options_.layouts) {
      if (layout == "block") measure_rows(gpu::Rows::block(bytes), layout);
      if (layout != "block-stride") continue;
      for (const std::size_t row : options_.rows) measure_rows(gpu::Rows::spaced(bytes, row), layout);
    }
  }
}

std::string name_with_start(const gpu::Contender& who) {
  const std::string name = who.peer.empty() ? name_of(who)
                                            : fmt::format("{} {}{}", who.peer, who.protocol,
                                                          who.element.empty() ? "" : ", " + who.element);
  return fmt::format("{}, {}{}", name, who.start,
                     who.scope.empty() || who.scope == "parts" ? "" : fmt::format(" ({})", who.scope));
}

// Puts by kernels and by a copy engine, unless one channel is forced, and the peers' exchanges.
std::vector<std::unique_ptr<gpu::Passing>> GpuBench::passing(std::size_t bytes) {
  std::vector<std::unique_ptr<gpu::Passing>> all;
  for (gpu::Way way : ways(false)) {
    if (way.start == "kernel" || way.start == "engine") continue;
    for (const char* channel : {"direct", "copy_engine"}) {
      if (options_.channel.empty()) way.channel = channel;
      if (options_.channel.empty() || channel == std::string("direct"))
        all.push_back(gpu::chain_passing(world_, bytes, way));
    }
  }
  for (const auto& peer : peers_) {
    for (auto& other : peer->passing(bytes)) all.push_back(std::move(other));
  }
  return all;
}

void GpuBench::overlap(std::size_t bytes, bool of_memory) {
  const char* beside = of_memory ? "memory" : "arithmetic";
  std::vector<int> puts;
  const auto make = [&] {
    gpu::Contenders all;
    puts.clear();
    for (auto& each : passing(bytes)) {
      gpu::OverlapParts three = gpu::overlap_parts(world_, std::move(each), of_memory);
      puts.push_back(three.puts);
      for (auto& part : three.parts) all.push_back(std::move(part));
    }
    return all;
  };
  const gpu::Outcome outcome = [&] {
    Progress bar = bench_progress(world_, options_, fmt::format("{} {}", bytes, beside));
    return gpu::measure(world_, make, options_.effort, [&](int rounds) { bar.update(rounds); });
  }();
  if (world_.rank() != 0) return;
  for (std::size_t i = 0; i < puts.size(); ++i) {
    const gpu::Contender& who = *outcome.contenders[3 * i + 2];
    Record line = record({.label = "", .layout = "block", .n = bytes, .bytes = bytes, .make = {}}, who);
    line.extra["computation"] = beside;
    line.extra["puts"] = puts[i];
    report_overlap(options_, name_with_start(who), beside,
                   {outcome.samples[3 * i], outcome.samples[3 * i + 1], outcome.samples[3 * i + 2]},
                   std::move(line));
  }
}

void GpuBench::overlap() {
  report_.heading(machine_.describe());
  if (world_.rank() == 0) print_overlap_header("beside");
  for (const std::size_t bytes : sizes({1048576, 4194304, 16777216, 67108864})) {
    for (const bool of_memory : {false, true}) overlap(bytes, of_memory);
  }
}

Record GpuBench::record(const Case& one, const gpu::Contender& who) const {
  Record record = report_.record(who);
  record.start = who.start;
  record.layout = one.layout;
  record.n = static_cast<std::int64_t>(one.n);
  if (!who.element.empty()) {
    record.n *= std::int64_t{sizeof(double) / sizeof(float)};
    record.extra["element"] = who.element;
  }
  record.bytes = static_cast<std::int64_t>(one.bytes);
  record.extra.update(one.extra);
  if (!who.scope.empty()) record.extra["scope"] = who.scope;
  if (who.peer.empty() && who.start == "kernel" && who.grid.blocks > 0)
    record.extra["grid"] = fmt::format("{}x{}", who.grid.blocks, who.grid.threads);
  record.extra["steps"] = who.steps_a_sample;
  record.gpus = machine_.describe();
  record.libraries = {{"cuda", machine_.cuda}, {"driver", machine_.driver}};
  for (const auto& peer : peers_) {
    if (!peer->version.empty() && peer->name != "mpi") record.libraries[peer->name] = peer->version;
  }
  return record;
}

void GpuBench::measure(const Case& one) {
  const gpu::Outcome outcome = [&] {
    Progress bar = bench_progress(world_, options_, one.label);
    return gpu::measure(world_, one.make, options_.effort, [&](int rounds) { bar.update(rounds); });
  }();
  if (world_.rank() != 0) return;
  std::vector<BenchReport::Row> rows;
  for (std::size_t i = 0; i < outcome.contenders.size(); ++i) {
    const gpu::Contender& who = *outcome.contenders[i];
    Record line = record(one, who);
    for (const double step : outcome.samples[i]) line.samples_us.push_back(step * one.of_a_step);
    rows.push_back({name_with_start(who), std::move(line)});
  }
  report_.rows(one.label, std::move(rows));
}

// Whether this peer's gpu::Peer can run the benchmark.
bool knows(const std::string& peer, const std::string& what) {
  if (peer == "copy") return what == "put";
  if (peer == "produced") return what == "halo" || what == "pingpong";
  if (peer == "counted" || peer == "post") return what == "pingpong";
  if (peer == "nccl" || peer == "nccl-windows") return true;
  if (peer == "nccl-copy-engine") return what == "allgather" || what == "alltoall" || what == "overlap";
  if (what == "overlap") return false;
  if (peer == "nccl-device" && what == "alltoall") return true;
  if (peer == "mpi") return what != "reduce_scatter";
  return what == "pingpong" || what == "halo" || what == "allreduce";
}

void check_peer(const std::string& peer, const BenchOptions& options) {
  if (peer == "hand") refuse("--peer hand is hand-written shared memory; it is for --fabric shm");
  if (!knows(peer, options.what)) refuse("--peer {} knows no {}", peer, options.what);
  if (options.what == "put" && peer != "copy" && !options.has_layout("block"))
    refuse("--peer {} puts nothing but blocks; add block to --layout", peer);
  if (peer.starts_with("nccl-") && gpu::has_peer("nccl") && !gpu::has_peer(peer))
    refuse("this build's NCCL is older than 2.28 and has no {}; --peer nccl measures what it has",
           peer == "nccl-device"    ? "device API"
           : peer == "nccl-windows" ? "symmetric windows that kernels know"
                                    : "copies by copy engines");
  if (peer != "counted" && peer != "post" && !gpu::has_peer(peer))
    refuse("this build has no {} to compare with; it is found when cmake configures, {}", peer,
           peer == "mscclpp" ? "where CMAKE_PREFIX_PATH leads to an installed one"
                             : fmt::format("among the system's packages and pip's (nvidia-{}-cu13)",
                                           peer.substr(0, peer.find('-'))));
}

void check_collective(const BenchOptions& options) {
  if (options.starts_by("engine"))
    refuse("the engine runs chains, no collectives; leave engine out of --start");
  if (options.what != "allreduce" && !options.starts_by("graph") && !options.starts_by("host"))
    refuse("{} is started by graph or host, not by a kernel; see --start", options.what);
  if (options.what == "barrier" && !options.sizes.empty())
    refuse("a barrier moves no bytes; leave --bytes out");
  if (!options.channel.empty()) refuse("--channel is for chains; --algorithm forces a collective's");
  for (const std::size_t bytes : options.sizes) {
    if (is_sum(options.what) && bytes % sizeof(double) != 0)
      refuse("--bytes {} is no number of doubles; {} needs multiples of 8", bytes, options.what);
  }
}

}  // namespace

void check_gpu_bench(const BenchOptions& options) {
  if (is_over_mpi(options.fabric)) {
    if (options.starts_by("kernel") || options.starts_by("engine"))
      refuse("no kernel drives what goes over MPI; on {} say --start graph, host or both", options.fabric);
    for (const std::string& peer : options.peers)
      if (peer == "nvshmem" || peer == "mscclpp" || peer.starts_with("nccl-"))
        refuse("--peer {} is for --fabric cuda", peer);
  }
  for (const std::string& peer : options.peers) check_peer(peer, options);
  if (options.what == "overlap" &&
      (options.ranks < 2 || !(options.starts_by("graph") || options.starts_by("host"))))
    refuse("an overlap needs 2 ranks, and steps started by graph or host; see --ranks and --start");
  if (is_coll(options.what)) check_collective(options);
  if (options.threads % 32 != 0 || options.threads > 256) refuse("--threads is a multiple of 32, up to 256");
}

void run_gpu_bench(World& world, const BenchOptions& options) { GpuBench(world, options).run(); }

}  // namespace tca::tool
