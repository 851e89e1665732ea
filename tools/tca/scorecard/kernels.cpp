// GPUs of a box whose kernels put by themselves: a ping-pong of two, and exchanges and sums among all, as
// measured by `tca bench --start kernel` and `--start graph`.
#include <algorithm>
#include <deque>

#include "base/fail.hpp"
#include "model/machine/host.hpp"
#include "scorecard/lab.hpp"

namespace tca::tool {

namespace {

constexpr std::uint64_t steps = 4;  // all steps are alike
constexpr std::uint32_t word_bytes = 8;
// Data that is gathered, sent and scattered as one. It is small enough for these to overlap.
constexpr std::uint64_t piece_bytes = 4096;
// Trips to memory:
// - of a barrier of the grid: an atomic, and the load that sees the last block's;
// - of a kernel that finds nothing in registers or near caches: the step and its tables, then the source.
constexpr int barrier_loads = 2, cold_loads = 2;

struct KernelPut {
  std::uint32_t to = 0;  // rank
  std::uint64_t bytes = 0;
};

// What arrives at a rank: pieces of staged data, flags, or both.
struct Inbox {
  Inbox(des::Simulator& simulator, std::uint32_t rank)
      : pieces(simulator, {"pieces for rank", rank}), flags(simulator, {"a flag for rank", rank}) {}
  des::Counter pieces, flags;
};

class Box {
 public:
  Box(const net::Machine& machine, const RunSettings& settings)
      : machine_(machine),
        settings_(settings),
        protocol_(net::find_protocol(machine, settings.library)),
        network_(simulator_, machine.network) {
    net::check_ranks(machine, static_cast<std::uint64_t>(settings.ranks));
    if (settings.ranks < 2 || settings.ranks > static_cast<std::int64_t>(machine.places.size()))
      base::fail(Errc::invalid_argument, "{} ranks: kernels put to each other within a box, 2 to {} of {}",
                 settings.ranks, machine.places.size(), machine.name);
    for (std::uint32_t rank = 0; rank < ranks(); ++rank) inboxes_.emplace_back(simulator_, rank);
  }

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(settings_.ranks); }
  const RunSettings& settings() const { return settings_; }
  des::Simulator& simulator() { return simulator_; }

  // Starts a step. Ends once its warps have stored everything and, in a flagged protocol, the flags are under
  // way.
  des::Task start(std::uint32_t rank, const std::vector<KernelPut>& puts) {
    co_await simulator_.sleep(protocol_.start);
    des::Group stores(simulator_, {"the stores of rank", rank});
    for (std::uint64_t done = 0; more(puts, done); done += piece_bytes)
      for (const KernelPut& put : puts) {
        if (done >= put.bytes) continue;
        const std::uint64_t bytes = std::min(piece_bytes, put.bytes - done);
        co_await simulator_.sleep(time_of(bytes));
        stores.spawn(store(rank, put.to, bytes), {"a piece of rank", rank});
      }
    if (!protocol_.flagged) co_return;
    co_await stores.done();
    des::Task acknowledged = acknowledge(puts.front().to, rank);
    co_await acknowledged;
    for (const KernelPut& put : puts) word(rank, put.to, inboxes_[put.to].flags);
  }

  // Waits for a step, by the same warps, until the data of the others' `puts` is there and has been
  // scattered.
  des::Task wait(std::uint32_t rank, const std::vector<KernelPut>& puts, std::uint64_t step) {
    Inbox& own = inboxes_[rank];
    if (protocol_.flagged) co_await own.flags.reached((step + 1) * puts.size());
    std::uint64_t landed = step * pieces(puts);
    for (std::uint64_t done = 0; more(puts, done); done += piece_bytes)
      for (const KernelPut& put : puts) {
        if (done >= put.bytes) continue;
        co_await own.pieces.reached(++landed);
        if (protocol_.staged) co_await simulator_.sleep(time_of(std::min(piece_bytes, put.bytes - done)));
      }
  }

  // What each step of a kernel costs in addition, before it and after it.
  des::Task begin_step(std::uint32_t rank, std::uint64_t bytes) {
    const net::Kernels& kernels = machine_.kernels;
    if (settings_.start == "graph") co_await simulator_.sleep(kernels.node + cold_loads * kernels.load);
    if (settings_.scope == "grid") {
      des::Task met = meet(rank, false);
      co_await met;
    }
    co_await simulator_.sleep(packing(bytes));
  }
  des::Task end_step(std::uint32_t rank, std::uint64_t bytes) {
    co_await simulator_.sleep(packing(bytes));
    if (settings_.scope != "grid") co_return;
    des::Task met = meet(rank, true);
    co_await met;
  }

  des::Task load() { co_await simulator_.sleep(machine_.kernels.load); }

  double run() {
    simulator_.run();
    return des::to_us(simulator_.now());
  }

 private:
  net::Endpoint memory(std::uint32_t rank) const { return network_.endpoint(0, machine_.places[rank]); }
  des::Time time_of(std::uint64_t bytes) const { return net::copy_time(bytes, protocol_.bytes_per_s); }
  static bool more(const std::vector<KernelPut>& puts, std::uint64_t done) {
    return std::ranges::any_of(puts, [done](const KernelPut& put) { return done < put.bytes; });
  }
  static std::uint64_t pieces(const std::vector<KernelPut>& puts) {
    std::uint64_t count = 0;
    for (const KernelPut& put : puts) count += (put.bytes + piece_bytes - 1) / piece_bytes;
    return count;
  }

  des::Time packing(std::uint64_t bytes) const {
    if (!settings_.packed) return 0;
    return machine_.kernels.load + net::kernel_time(machine_.gpu, 2 * static_cast<double>(bytes), 0);
  }

  void word(std::uint32_t from, std::uint32_t to, des::Counter& arrived) {
    network_.send({.from = memory(from),
                   .to = memory(to),
                   .interconnect = net::Transfer::inside,
                   .bytes = word_bytes,
                   .arrived = &arrived});
  }

  des::Task store(std::uint32_t rank, std::uint32_t to, std::uint64_t bytes) {
    const net::LinkClass& link = network_.wire(memory(rank), memory(to).unit);
    des::Task stored =
        network_.transfer({.from = memory(rank),
                           .to = memory(to),
                           .interconnect = net::Transfer::inside,
                           .rows = {.bytes = bytes * static_cast<std::uint64_t>(protocol_.expansion)},
                           .packet_bytes = link.payload_bytes,
                           .window = link.credits,
                           .arrived = &inboxes_[to].pieces});
    co_await stored;
  }

  // A fence ends when the last store has been acknowledged.
  des::Task acknowledge(std::uint32_t from, std::uint32_t to) {
    des::Counter told(simulator_, {"an acknowledgement for rank", to});
    word(from, to, told);
    co_await told.reached(1);
  }

  // A barrier of the grid. Its fence waits for what the blocks have stored at other GPUs, there and back.
  des::Task meet(std::uint32_t rank, bool stored) {
    const std::uint32_t partner = (rank + 1) % ranks();
    if (stored) {
      des::Task there = acknowledge(rank, partner);
      co_await there;
      des::Task back = acknowledge(partner, rank);
      co_await back;
    }
    co_await simulator_.sleep(barrier_loads * machine_.kernels.load);
  }

  const net::Machine& machine_;
  RunSettings settings_;
  const net::KernelProtocol& protocol_;
  des::Simulator simulator_;
  net::Network network_;
  std::deque<Inbox> inboxes_;
};

des::Task answer(Box& box, std::uint32_t rank) {
  const std::vector<KernelPut> puts{{1 - rank, static_cast<std::uint64_t>(box.settings().bytes)}};
  for (std::uint64_t step = 0; step < steps; ++step) {
    if (rank == 0) {
      des::Task started = box.start(rank, puts);
      co_await started;
    }
    des::Task came = box.wait(rank, puts, step);
    co_await came;
    if (rank == 0) continue;
    des::Task started = box.start(rank, puts);
    co_await started;
  }
}

// Every rank receives as much from others as it sends.
des::Task exchange(Box& box, std::uint32_t rank, std::vector<KernelPut> puts, bool sums) {
  std::uint64_t bytes = 0;
  for (const KernelPut& put : puts) bytes += put.bytes;
  for (std::uint64_t step = 0; step < steps; ++step) {
    des::Task begun = box.begin_step(rank, bytes);
    co_await begun;
    if (sums && box.settings().start == "kernel") {
      // The values have just been written by the previous sum, so they must be loaded. A kernel that begins
      // counts this load anyway.
      des::Task loaded = box.load();
      co_await loaded;
    }
    des::Task started = box.start(rank, puts);
    co_await started;
    des::Task came = box.wait(rank, puts, step);
    co_await came;
    des::Task ended = box.end_step(rank, bytes);
    co_await ended;
  }
}

}  // namespace

double run_kernel_pingpong(const net::Machine& machine, const RunSettings& settings) {
  Box box(machine, settings);
  for (const std::uint32_t rank : {0u, 1u}) box.simulator().spawn(answer(box, rank), {"rank", rank});
  return box.run() / (2 * static_cast<double>(steps));
}

// Sends both faces of a cube of n x n x n to the neighbours in a ring.
double run_kernel_halo(const net::Machine& machine, const RunSettings& settings) {
  Box box(machine, settings);
  const auto face = static_cast<std::uint64_t>(settings.n * settings.n * settings.element);
  for (std::uint32_t rank = 0; rank < box.ranks(); ++rank) {
    const std::uint32_t left = (rank + box.ranks() - 1) % box.ranks(), right = (rank + 1) % box.ranks();
    box.simulator().spawn(exchange(box, rank, {{left, face}, {right, face}}, false), {"rank", rank});
  }
  return box.run() / static_cast<double>(steps);
}

// Sends every rank's values to every other rank, and each rank adds all of them up.
double run_kernel_allreduce(const net::Machine& machine, const RunSettings& settings) {
  Box box(machine, settings);
  for (std::uint32_t rank = 0; rank < box.ranks(); ++rank) {
    std::vector<KernelPut> puts;
    for (std::uint32_t i = 1; i < box.ranks(); ++i)
      puts.push_back({(rank + i) % box.ranks(), static_cast<std::uint64_t>(settings.bytes)});
    box.simulator().spawn(exchange(box, rank, puts, true), {"rank", rank});
  }
  return box.run() / static_cast<double>(steps);
}

}  // namespace tca::tool
