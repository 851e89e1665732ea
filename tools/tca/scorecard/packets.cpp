// GPUs of a box whose kernels put in packets that say by themselves which step they are of (docs/protocols.md,
// ll): a ping-pong of two, and exchanges and sums among all, as measured by `tca bench`.
#include <algorithm>
#include <deque>

#include "base/fail.hpp"
#include "model/machine/host.hpp"
#include "scorecard/lab.hpp"

namespace tca::tool {

namespace {

constexpr std::uint64_t steps = 8;  // all steps are alike
constexpr std::uint64_t most_blocks = 128, most_warps = 8;
constexpr std::uint64_t packet_bytes = 12;  // of data
// Trips to memory:
// - of a barrier of the grid: an atomic, and the load that sees the last block's;
// - of a kernel that finds nothing in registers or near caches: the step and its tables, then the source;
// - of a warp that begins to wait when it has sent: the first look. In a ping-pong it has looked for long.
constexpr int barrier_loads = 2, cold_loads = 2, first_look_loads = 1;

const net::KernelProtocol& protocol_of(const net::Machine& machine, const std::string& name) {
  const net::KernelProtocol& protocol = net::find_protocol(machine, name);
  if (!protocol.chunks)
    base::fail(Errc::invalid_argument, "kernels of {} do not put in chunks by `{}`", machine.name, name);
  return protocol;
}

// To whom every rank puts, in an order in which the i-th comes back from the i-th last.
using Partners = std::vector<std::vector<std::uint32_t>>;

class Packets {
 public:
  Packets(const net::Machine& machine, const RunSettings& settings, Partners partners, std::uint64_t bytes)
      : machine_(machine),
        settings_(settings),
        start_(protocol_of(machine, settings.library).start),
        protocol_(*protocol_of(machine, settings.library).chunks),
        network_(simulator_, machine.network),
        partners_(std::move(partners)),
        bytes_(bytes),
        chunks_((bytes + protocol_.data - 1) / protocol_.data) {
    if (partners_.size() < 2 || partners_.size() > machine.places.size())
      base::fail(Errc::invalid_argument, "{} ranks: kernels put to each other within a box, 2 to {} of {}",
                 partners_.size(), machine.places.size(), machine.name);
    for (std::uint64_t i = 0; i < partners_.size(); ++i) met_.emplace_back(simulator_, des::Label{"blocks"});
  }

  // Cuts every rank's work as `tca bench` does: a chunk a warp, as far as a grid has warps.
  void spread() {
    warps_ = std::min((all() + most_blocks - 1) / most_blocks, most_warps);
    cut_into(std::min((all() + warps_ - 1) / warps_, most_blocks));
  }
  void cut_into(std::uint64_t blocks) {
    blocks_ = blocks;
    for (std::uint64_t i = 0; i < partners_.size() * blocks_ * steps; ++i)
      landed_.emplace_back(simulator_, des::Label{"chunks for block", static_cast<std::uint32_t>(i)});
  }

  double answers() {
    for (std::uint32_t rank = 0; rank < 2; ++rank)
      for (std::uint64_t block = 0; block < blocks_; ++block)
        simulator_.spawn(answer(rank, block), {"rank", rank});
    return run() / 2;
  }
  // `looks`: how many trips to memory a step has beside what a ping-pong's has.
  double exchanges(int looks) {
    for (std::uint32_t rank = 0; rank < partners_.size(); ++rank)
      for (std::uint64_t block = 0; block < blocks_; ++block)
        simulator_.spawn(exchange(rank, block, looks), {"rank", rank});
    return run();
  }

 private:
  double run() {
    simulator_.run();
    return des::to_us(simulator_.now()) / static_cast<double>(steps);
  }

  net::Endpoint memory(std::uint32_t rank) const { return network_.endpoint(0, machine_.places[rank]); }
  std::uint64_t all() const { return chunks_ * partners_.front().size(); }
  std::uint64_t own(std::uint64_t block) const { return (all() - block + blocks_ - 1) / blocks_; }
  des::Counter& landed(std::uint32_t rank, std::uint64_t block, std::uint64_t step) {
    return landed_[(step * partners_.size() + rank) * blocks_ + block];
  }

  // What warps take for a chunk, at either end. A first packet alone is a part of `start`.
  des::Time moving(bool first) const { return first && bytes_ <= packet_bytes ? 0 : protocol_.move / 2; }

  // A warp stores chunk after chunk.
  des::Task start(std::uint32_t rank, std::uint64_t block, std::uint64_t step) {
    co_await simulator_.sleep(start_);
    for (std::uint64_t i = 0; i < own(block); ++i) {
      if (i % warps_ == 0) co_await simulator_.sleep(moving(i == 0));
      store(rank, block + i * blocks_, step);
    }
  }

  void store(std::uint32_t rank, std::uint64_t chunk, std::uint64_t step) {
    const std::vector<std::uint32_t>& to = partners_[rank];
    const std::uint64_t put = chunk / chunks_, place = chunk % chunks_;
    const std::uint64_t bytes = std::min<std::uint64_t>(protocol_.data, bytes_ - place * protocol_.data);
    const std::uint64_t theirs = (to.size() - 1 - put) * chunks_ + place;
    network_.send(
        {.from = memory(rank),
         .to = memory(to[put]),
         .interconnect = net::Transfer::inside,
         .bytes = static_cast<std::uint32_t>((bytes * protocol_.wire + protocol_.data - 1) / protocol_.data),
         .arrived = &landed(to[put], theirs % blocks_, step)});
  }

  des::Task wait(std::uint32_t rank, std::uint64_t block, std::uint64_t step) {
    co_await landed(rank, block, step).reached(own(block));
    des::Time scatter = warps_ > 1 ? protocol_.block : 0;
    for (std::uint64_t i = 0; i < own(block); i += warps_) scatter += moving(i == 0);
    co_await simulator_.sleep(scatter);
  }

  des::Task answer(std::uint32_t rank, std::uint64_t block) {
    for (std::uint64_t step = 0; step < steps; ++step) {
      des::Task first = rank == 0 ? start(rank, block, step) : wait(rank, block, step);
      co_await first;
      des::Task second = rank == 0 ? wait(rank, block, step) : start(rank, block, step);
      co_await second;
    }
  }

  // Blocks of one kernel go on by themselves, unless the promises are those of the grid.
  des::Task exchange(std::uint32_t rank, std::uint64_t block, int looks) {
    const net::Kernels& kernels = machine_.kernels;
    const bool graph = settings_.start == "graph", grid = settings_.scope == "grid";
    for (std::uint64_t step = 0; step < steps; ++step) {
      co_await simulator_.sleep(looks * kernels.load);
      if (graph) co_await simulator_.sleep(kernels.node + cold_loads * kernels.load);
      if (grid) co_await simulator_.sleep(barrier_loads * kernels.load);
      des::Task started = start(rank, block, step);
      co_await started;
      des::Task came = wait(rank, block, step);
      co_await came;
      if (!graph && !grid) continue;
      met_[rank].add();
      co_await met_[rank].reached((step + 1) * blocks_);
      if (!grid) continue;
      des::Task stored = acknowledge(rank);
      co_await stored;
      co_await simulator_.sleep(barrier_loads * kernels.load);
    }
  }

  // The fence of a grid's barrier waits for what its blocks have stored at other GPUs, there and back.
  des::Task acknowledge(std::uint32_t rank) {
    const std::uint32_t partner = partners_[rank].front();
    for (const auto& [from, to] : {std::pair{rank, partner}, {partner, rank}}) {
      des::Counter told(simulator_, {"an acknowledgement for rank", rank});
      network_.send({.from = memory(from),
                     .to = memory(to),
                     .interconnect = net::Transfer::inside,
                     .bytes = 8,
                     .arrived = &told});
      co_await told.reached(1);
    }
  }

  const net::Machine& machine_;
  RunSettings settings_;
  des::Time start_;
  const net::KernelChunks& protocol_;
  des::Simulator simulator_;
  net::Network network_;
  Partners partners_;
  std::uint64_t bytes_, chunks_;  // of a put
  std::uint64_t warps_ = 1, blocks_ = 1;
  std::deque<des::Counter> landed_, met_;
};

Partners ring(std::uint32_t ranks) {
  Partners partners;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    partners.push_back({(rank + ranks - 1) % ranks, (rank + 1) % ranks});
  return partners;
}

Partners everybody(std::uint32_t ranks) {
  Partners partners(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    for (std::uint32_t i = 1; i < ranks; ++i) partners[rank].push_back((rank + i) % ranks);
  return partners;
}

}  // namespace

double run_packet_pingpong(const net::Machine& machine, const RunSettings& settings) {
  Packets box(machine, settings, {{1}, {0}}, static_cast<std::uint64_t>(settings.bytes));
  box.spread();
  return box.answers();
}

// Sends both faces of a cube of n x n x n to the neighbours in a ring.
double run_packet_halo(const net::Machine& machine, const RunSettings& settings) {
  Packets box(machine, settings, ring(static_cast<std::uint32_t>(settings.ranks)),
              static_cast<std::uint64_t>(settings.n * settings.n * settings.element));
  box.spread();
  return box.exchanges(first_look_loads);
}

// One warp sends every rank's values to every other rank, and adds all of them up as they come.
double run_packet_allreduce(const net::Machine& machine, const RunSettings& settings) {
  Packets box(machine, settings, everybody(static_cast<std::uint32_t>(settings.ranks)),
              static_cast<std::uint64_t>(settings.bytes));
  box.cut_into(1);
  return box.exchanges(0);
}

}  // namespace tca::tool
