// Broadcast and allgather as they were measured: by PEACH2 in the benchmarks of HA-PACS/TCA (nakao-peach2),
// by MVAPICH2, and by both, in which case the widest step goes over InfiniBand (odajima-hybrid, 5.4 and 5.5).
#include <bit>

#include "base/fail.hpp"
#include "model/program.hpp"
#include "scorecard/lab.hpp"
#include "scorecard/mvapich.hpp"

namespace tca::tool {

namespace {

class Measured {
 public:
  Measured(const net::Machine& machine, const RunSettings& settings)
      : bytes_(static_cast<std::uint64_t>(settings.bytes)),
        ranks_(static_cast<std::uint32_t>(settings.ranks)),
        scheme_(scheme_named(settings.scheme)),
        own_copy_(settings.own_copy),
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
      Mvapich(stage_, bytes_, false).broadcast();
      return time();
    }
    lay_binomial();
    return run();
  }

  double allgather() {
    if (scheme_ == Scheme::mpi) {
      Mvapich(stage_, bytes_, own_copy_).allgather();
      return time();
    }
    lay_doubling();
    return run();
  }

 private:
  // The hybrid scheme takes MPI for the widest step, and between ranks that no put reaches.
  Carrier carrier(std::uint32_t from, std::uint32_t to) const {
    if (scheme_ == Scheme::direct) return Carrier::chain;
    const bool widest = (from ^ to) == ranks_ / 2;
    return widest || !stage_.reaches(from, to) ? Carrier::mpi : Carrier::chain;
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

  // Where it is not in place, what a rank gives is first taken to its place in its own result: the controller
  // walks the descriptors of a chain one after the other.
  void lay_doubling() {
    const std::size_t first = own_copy_ ? 1 : 0;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (own_copy_) steps_.put({rank, 0}, {rank, 0}, {.bytes = bytes_}, Carrier::chain);
      std::size_t turn = first;
      for (std::uint32_t step = 1; step < ranks_; step *= 2, ++turn)
        steps_.put({rank, turn}, {rank ^ step, turn}, {.bytes = bytes_ * step}, carrier(rank, rank ^ step));
    }
  }

  des::Task play(std::uint32_t rank) {
    for (std::size_t i = 0; i < steps_.count(rank); ++i) {
      des::Task step = steps_.run({rank, i}, 1);
      co_await step;
    }
  }

  double time() { return des::to_us(stage_.simulator().now()); }

  double run() {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) stage_.simulator().spawn(play(rank), {"rank", rank});
    stage_.simulator().run();
    return time();
  }

  std::uint64_t bytes_;
  std::uint32_t ranks_;
  Scheme scheme_;
  bool own_copy_;
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
