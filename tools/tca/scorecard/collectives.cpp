// Broadcast and allgather as they were measured: by PEACH2 in the benchmarks of HA-PACS/TCA (nakao-peach2),
// by MVAPICH2, and by both, in which case the widest step goes over InfiniBand (odajima-hybrid, 5.4 and 5.5).
// The allgathers are the library's algorithms. The library has none of these broadcasts.
#include <bit>

#include "base/fail.hpp"
#include "coll/algorithms/algorithms.hpp"
#include "model/program.hpp"
#include "model/walk.hpp"
#include "scorecard/lab.hpp"

namespace tca::tool {

namespace {

class Measured {
 public:
  Measured(const net::Machine& machine, const RunSettings& settings)
      : bytes_(static_cast<std::uint64_t>(settings.bytes)),
        ranks_(static_cast<std::uint32_t>(settings.ranks)),
        scheme_(scheme_named(settings.scheme)),
        stage_(machine, {.places = place_ranks(machine, ranks_, {}, settings.gpu),
                         .fidelity = net::Fidelity::tlp,
                         .library = settings.library,
                         .keeps_spans = false}),
        steps_(stage_) {
    if (!std::has_single_bit(ranks_))
      base::fail(Errc::invalid_argument, "{} ranks: what was measured is for powers of two, such as {}",
                 ranks_, std::bit_floor(ranks_));
  }

  double broadcast() {
    if (scheme_ == Scheme::mpi) {
      const bool on_hosts = static_cast<std::int64_t>(bytes_) <= library().eager_limit;
      lay_tree(on_hosts ? library().tree : 2, on_hosts ? Carrier::host_mpi : Carrier::mpi);
      return run([&](std::uint32_t rank) { return on_hosts ? through_hosts(rank) : play(rank); });
    }
    lay_binomial();
    return run([&](std::uint32_t rank) { return play(rank); });
  }

  double allgather() {
    const auto bytes = static_cast<std::int64_t>(bytes_);
    const bool ring = scheme_ == Scheme::mpi && bytes >= library().ring_from && bytes <= library().ring_to;
    const coll::Problem problem{.kind = CollectiveKind::all_gather,
                                .rank = 0,
                                .ranks = static_cast<int>(ranks_),
                                .root = 0,
                                .count = bytes,
                                .in_place = true,
                                .own_operation = false};
    Walk walk(stage_, ring ? coll::ring : coll::recursive_doubling, problem, 1,
              [&](std::uint32_t from, std::uint32_t to, std::uint64_t) { return carrier(from, to); });
    return run([&](std::uint32_t rank) { return walk.play(rank, 1, false); });
  }

 private:
  const net::MpiLibrary& library() { return stage_.mpi().library(); }

  // The hybrid scheme takes MPI for the widest step, and between ranks that no put reaches.
  Carrier carrier(std::uint32_t from, std::uint32_t to) const {
    if (scheme_ == Scheme::direct) return Carrier::chain;
    const bool widest = (from ^ to) == ranks_ / 2;
    return scheme_ == Scheme::mpi || widest || !stage_.reaches(from, to) ? Carrier::mpi : Carrier::chain;
  }

  // Rank r receives the data from r less the lowest bit set in r, and passes it on to the farthest first:
  // what goes by MPI, and then the rest as one chain.
  void lay_binomial() {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      for (std::uint32_t step = (rank == 0 ? ranks_ : rank & (~rank + 1)) / 2; step > 0; step /= 2) {
        const Carrier by = carrier(rank, rank + step);
        const std::size_t turn = by == Carrier::mpi ? 1 : 2;
        steps_.put({rank, turn}, {rank + step, 0}, {.bytes = bytes_}, by);
      }
  }

  // A tree of the given degree: a rank that has the data sends it to degree - 1 others in each level, one
  // after the other, beginning with the farthest level.
  void lay_tree(std::uint32_t degree, Carrier by) {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      std::uint32_t span = 1;
      while (span < ranks_ && rank % (span * degree) == 0) span *= degree;
      std::size_t turn = 0;
      for (std::uint32_t step = span / degree; step > 0; step /= degree)
        for (std::uint32_t child = rank + step; child < rank + degree * step && child < ranks_; child += step)
          steps_.put({rank, ++turn}, {child, 0}, {.bytes = bytes_}, by);
    }
  }

  des::Task play(std::uint32_t rank) {
    for (std::size_t i = 0; i < steps_.count(rank); ++i) {
      des::Task step = steps_.run({rank, i}, 1);
      co_await step;
    }
  }

  // Small data is read from rank 0's GPU once, sent from host to host, and finally written into the GPUs.
  des::Task through_hosts(std::uint32_t rank) {
    const net::Machine& machine = stage_.machine();
    const bool inlined = static_cast<std::int64_t>(bytes_) <= library().inline_limit;
    const net::MemoryPort& gpu = *machine.network.node.units[stage_.memory(0).unit].memory;
    const double rate = rank == 0 ? gpu.read_bytes_per_s : machine.host.store_to_gpu_bytes_per_s;
    const des::Time moving = des::from_us(static_cast<double>(bytes_) / rate * 1e6);
    const des::Time reading = rank == 0 && !inlined ? library().read_start : 0;
    if (rank == 0) {
      des::Task out = stage_.spend(rank, "out of the GPU", library().gpu + reading + moving);
      co_await out;
    }
    des::Task between_hosts = play(rank);
    co_await between_hosts;
    if (rank == 0) co_return;
    des::Task in = stage_.spend(rank, "into the GPU", library().gpu + moving);
    co_await in;
  }

  template <class Program>
  double run(Program program) {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      stage_.simulator().spawn(program(rank), {"rank", rank});
    stage_.simulator().run();
    return des::to_us(stage_.simulator().now());
  }

  std::uint64_t bytes_;
  std::uint32_t ranks_;
  Scheme scheme_;
  Stage stage_;
  Steps steps_;
};

}  // namespace

double run_bcast(const net::Machine& machine, const RunSettings& settings) {
  return Measured(machine, settings).broadcast();
}

double run_allgather(const net::Machine& machine, const RunSettings& settings) {
  return Measured(machine, settings).allgather();
}

}  // namespace tca::tool
