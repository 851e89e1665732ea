// GPUs of a box whose kernels put by themselves, data and a flag behind it: a ping-pong of two, and exchanges
// among all, as measured by `tca bench --start kernel`.
#include <algorithm>
#include <deque>

#include "base/fail.hpp"
#include "model/machine/host.hpp"
#include "scorecard/lab.hpp"

namespace tca::tool {

namespace {

constexpr std::uint64_t steps = 4;  // all steps are alike
constexpr std::uint32_t word_bytes = 8;
// Data that is gathered and sent as one. It is small enough for these to overlap.
constexpr std::uint64_t piece_bytes = 4096;

struct KernelPut {
  std::uint32_t to = 0;  // rank
  std::uint64_t bytes = 0;
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
    if (protocol_.chunks)
      base::fail(Errc::invalid_argument, "kernels of {} have no flag behind the data of `{}`", machine.name,
                 settings.library);
    for (std::uint32_t rank = 0; rank < ranks(); ++rank)
      flags_.emplace_back(simulator_, des::Label{"a flag for rank", rank});
  }

  std::uint32_t ranks() const { return static_cast<std::uint32_t>(settings_.ranks); }
  const RunSettings& settings() const { return settings_; }
  des::Simulator& simulator() { return simulator_; }

  // Starts a step. Ends once its warps have stored everything and the flags are under way.
  des::Task start(std::uint32_t rank, const std::vector<KernelPut>& puts) {
    const bool several_blocks = puts.size() > 1 || puts.front().bytes > piece_bytes;
    co_await simulator_.sleep(protocol_.start + (several_blocks ? protocol_.blocks : 0));
    des::Group stores(simulator_, {"the stores of rank", rank});
    for (std::uint64_t done = 0; more(puts, done); done += piece_bytes)
      for (const KernelPut& put : puts) {
        if (done >= put.bytes) continue;
        const std::uint64_t bytes = std::min(piece_bytes, put.bytes - done);
        co_await simulator_.sleep(net::copy_time(bytes, protocol_.bytes_per_s));
        stores.spawn(store(rank, put.to, bytes), {"a piece of rank", rank});
      }
    co_await stores.done();
    des::Task acknowledged = acknowledge(puts.front().to, rank);
    co_await acknowledged;
    for (const KernelPut& put : puts) word(rank, put.to, flags_[put.to]);
  }

  // Waits for a step, by the same warps, until the flags of as many of the others' puts have come.
  des::Task wait(std::uint32_t rank, std::size_t puts, std::uint64_t step) {
    co_await flags_[rank].reached((step + 1) * puts);
  }

  // What packing rows, or unpacking them, costs in addition.
  des::Task pack(std::uint64_t bytes) {
    if (settings_.packed)
      co_await simulator_.sleep(machine_.kernels.load +
                                net::kernel_time(machine_.gpu, 2 * static_cast<double>(bytes), 0));
  }

  double run() {
    simulator_.run();
    return des::to_us(simulator_.now());
  }

 private:
  net::Endpoint memory(std::uint32_t rank) const { return network_.endpoint(0, machine_.places[rank]); }
  static bool more(const std::vector<KernelPut>& puts, std::uint64_t done) {
    return std::ranges::any_of(puts, [done](const KernelPut& put) { return done < put.bytes; });
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
    des::Task stored = network_.transfer({.from = memory(rank),
                                          .to = memory(to),
                                          .interconnect = net::Transfer::inside,
                                          .rows = {.bytes = bytes},
                                          .packet_bytes = link.payload_bytes,
                                          .window = link.credits});
    co_await stored;
  }

  // A fence ends when the last store has been acknowledged.
  des::Task acknowledge(std::uint32_t from, std::uint32_t to) {
    des::Counter told(simulator_, {"an acknowledgement for rank", to});
    word(from, to, told);
    co_await told.reached(1);
  }

  const net::Machine& machine_;
  RunSettings settings_;
  const net::KernelProtocol& protocol_;
  des::Simulator simulator_;
  net::Network network_;
  std::deque<des::Counter> flags_;
};

des::Task answer(Box& box, std::uint32_t rank) {
  const std::vector<KernelPut> puts{{1 - rank, static_cast<std::uint64_t>(box.settings().bytes)}};
  for (std::uint64_t step = 0; step < steps; ++step) {
    des::Task first = rank == 0 ? box.start(rank, puts) : box.wait(rank, 1, step);
    co_await first;
    des::Task second = rank == 0 ? box.wait(rank, 1, step) : box.start(rank, puts);
    co_await second;
  }
}

// Every rank receives as much from others as it sends.
des::Task exchange(Box& box, std::uint32_t rank, std::vector<KernelPut> puts) {
  std::uint64_t bytes = 0;
  for (const KernelPut& put : puts) bytes += put.bytes;
  for (std::uint64_t step = 0; step < steps; ++step) {
    des::Task packed = box.pack(bytes);
    co_await packed;
    des::Task started = box.start(rank, puts);
    co_await started;
    des::Task came = box.wait(rank, puts.size(), step);
    co_await came;
    des::Task unpacked = box.pack(bytes);
    co_await unpacked;
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
    box.simulator().spawn(exchange(box, rank, {{left, face}, {right, face}}), {"rank", rank});
  }
  return box.run() / static_cast<double>(steps);
}

}  // namespace tca::tool
