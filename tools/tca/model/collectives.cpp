// Collectives by chains and puts, by an MPI library, or by both, in which case MPI carries the largest step
// (S3).
#include <bit>
#include <deque>

#include "base/fail.hpp"
#include "model/program.hpp"

namespace tca::tool {

namespace {

constexpr std::uint64_t mark = 8;  // bytes of the mark that follows the data of a processor's store

// A rank's part in chains: where its data arrives, and the chains that it starts.
struct Player {
  Player(Stage& stage, std::uint32_t rank) : arrived(stage.simulator(), {"data for rank", rank}) {}
  des::Counter arrived;
  std::deque<Chain> chains;        // one for each start
  std::deque<des::Counter> slots;  // one for each step
};

class Collective {
 public:
  Collective(Stage& stage, const Messages& messages)
      : stage_(stage), scheme_(messages.scheme), bytes_(messages.bytes), ranks_(stage.ranks()) {
    if (!std::has_single_bit(ranks_))
      base::fail(Errc::invalid_argument, "{} ranks: the collectives are for powers of two, such as {}",
                 ranks_, std::bit_floor(ranks_));
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) players_.emplace_back(stage, rank);
  }

  // Binomial tree. Rank r receives the data in the step whose span is the lowest bit set in r, and passes it
  // on to r + span / 2, ..., r + 1.
  des::Task broadcast(std::uint32_t rank) {
    const std::uint32_t span = rank == 0 ? ranks_ : rank & (~rank + 1);
    if (rank != 0) {
      des::Task received = get(rank, rank - span);
      co_await received;
    }
    Chain& chain = players_[rank].chains.emplace_back(stage_.simulator(), rank);
    for (std::uint32_t step = span / 2; step > 0; step /= 2) {
      const std::uint32_t child = rank + step;
      if (!by_mpi(rank, child)) {
        chain.puts.push_back(
            {.to = child, .rows = {.bytes = bytes_}, .arrived = &players_[child].arrived, .notifies = true});
        continue;
      }
      des::Task sent = message(rank, stage_.mpi().send(rank, child, bytes_));
      co_await sent;
    }
    if (chain.puts.empty()) co_return;
    des::Task started = stage_.start(rank, 0, chain);
    co_await started;
    des::Task left = stage_.watch(rank, chain.sent, chain.notices());
    co_await left;
  }

  // Small data is read from rank 0's GPU once, sent from host to host, and finally written into the GPUs.
  // Larger data goes from GPU to GPU in a binomial tree.
  des::Task broadcast_mpi(std::uint32_t rank) {
    const net::MpiLibrary& library = stage_.mpi().library();
    if (static_cast<std::int64_t>(bytes_) > library.eager_limit) {
      des::Task between_gpus = tree(stage_.mpi(), rank, 2);
      co_await between_gpus;
      co_return;
    }
    const net::Machine& machine = stage_.machine();
    const bool inlined = static_cast<std::int64_t>(bytes_) <= library.inline_limit;
    const net::MemoryPort& gpu = *machine.network.node.units[stage_.memory(0).unit].memory;
    const double rate = rank == 0 ? gpu.read_bytes_per_s : machine.host.store_to_gpu_bytes_per_s;
    const des::Time moving = des::from_us(static_cast<double>(bytes_) / rate * 1e6);
    const des::Time reading = rank == 0 && !inlined ? library.read_start : 0;
    if (rank == 0) {
      des::Task out = stage_.spend(rank, "out of the GPU", library.gpu + reading + moving);
      co_await out;
    }
    des::Task between_hosts = tree(stage_.host_mpi(), rank, library.tree);
    co_await between_hosts;
    if (rank == 0) co_return;
    des::Task in = stage_.spend(rank, "into the GPU", library.gpu + moving);
    co_await in;
  }

  // Recursive doubling: exchanges with rank ^ 1 first, then twice the data with rank ^ 2, and so on.
  des::Task allgather(std::uint32_t rank) {
    std::uint64_t bytes = bytes_;
    std::size_t step = 0;
    for (std::uint32_t mask = 1; mask < ranks_; mask *= 2, bytes *= 2, ++step) {
      const std::uint32_t other = rank ^ mask;
      if (by_mpi(rank, other)) {
        des::Task swapped = stage_.swap(rank, stage_.mpi(), other, other, bytes);
        co_await swapped;
        continue;
      }
      des::Task put = exchange(rank, other, bytes, step);
      co_await put;
    }
  }

  // Ring: each step passes on what arrived in the previous one.
  des::Task allgather_ring(std::uint32_t rank) {
    const std::uint32_t next = (rank + 1) % ranks_, last = (rank + ranks_ - 1) % ranks_;
    for (std::uint32_t step = 1; step < ranks_; ++step) {
      des::Task passed = stage_.swap(rank, stage_.mpi(), next, last, bytes_);
      co_await passed;
    }
  }

  // Adds up with rank ^ 1, ^ 2, ..., from host to host, with a copy out of the GPU before and one back into
  // it after. Without MPI the hosts store their partial sums into each other's memory, followed by a mark.
  // Data that is too large for a store goes from GPU to GPU, and kernels add. The time of the processors'
  // additions is not modelled.
  des::Task allreduce(std::uint32_t rank) {
    const bool on_hosts = scheme_ == Scheme::mpi || bytes_ + mark <= stage_.store_limit();
    if (on_hosts) {
      des::Task out = stage_.copy(rank, bytes_, false);
      co_await out;
    }
    std::size_t step = 0;
    for (std::uint32_t mask = 1; mask < ranks_; mask *= 2, ++step) {
      des::Task swapped =
          on_hosts ? sum_on_hosts(rank, rank ^ mask, step) : sum_on_gpus(rank, rank ^ mask, step);
      co_await swapped;
    }
    if (!on_hosts) co_return;
    des::Task in = stage_.copy(rank, bytes_, true);
    co_await in;
  }

  bool takes_ring() {
    if (scheme_ != Scheme::mpi) return false;
    const net::MpiLibrary& library = stage_.mpi().library();
    const auto bytes = static_cast<std::int64_t>(bytes_);
    return bytes >= library.ring_from && bytes <= library.ring_to;
  }

  template <class Program>
  void run(Program program) {
    for (std::uint32_t rank = 0; rank < ranks_; ++rank)
      stage_.simulator().spawn((this->*program)(rank), {"rank", rank});
    stage_.simulator().run();
    stage_.end_iteration(0);
  }

 private:
  // The hybrid scheme takes MPI for the widest step, and between ranks that no put reaches. In boxes, whose
  // GPUs store into each other, it takes MPI only for the latter.
  bool by_mpi(std::uint32_t from, std::uint32_t to) const {
    if (scheme_ != Scheme::hybrid) return scheme_ == Scheme::mpi;
    const bool widest = (from ^ to) == ranks_ / 2;
    const bool boxes = find_way(stage_.machine()).way == Way::stores;
    return !stage_.reaches(from, to) || (widest && !boxes);
  }

  des::Task get(std::uint32_t rank, std::uint32_t from) {
    if (!by_mpi(from, rank)) return stage_.watch(rank, players_[rank].arrived, 1);
    return message(rank, stage_.mpi().receive(from, rank, bytes_));
  }

  des::Task message(std::uint32_t rank, des::Task task) {
    des::Group one(stage_.simulator(), {"a message of rank", rank});
    one.spawn(std::move(task), {"a message of rank", rank});
    des::Task done = stage_.finish(rank, one);
    co_await done;
  }

  // A tree of the given degree: a rank that has the data sends it to degree - 1 others in each level, one
  // after the other, beginning with the farthest level.
  des::Task tree(net::Mpi& mpi, std::uint32_t rank, std::uint32_t degree) {
    std::uint32_t span = 1;
    while (span < ranks_ && rank % (span * degree) == 0) span *= degree;
    if (rank != 0) {
      des::Task received = message(rank, mpi.receive(rank - rank % (span * degree), rank, bytes_));
      co_await received;
    }
    for (std::uint32_t step = span / degree; step > 0; step /= degree)
      for (std::uint32_t child = 1; child < degree; ++child) {
        if (rank + child * step >= ranks_) continue;
        des::Task sent = message(rank, mpi.send(rank, rank + child * step, bytes_));
        co_await sent;
      }
  }

  des::Task sum_on_hosts(std::uint32_t rank, std::uint32_t other, std::size_t step) {
    if (by_mpi(rank, other)) return stage_.swap(rank, stage_.host_mpi(), other, other, bytes_);
    return exchange_stores(rank, other, step);
  }

  des::Task exchange_stores(std::uint32_t rank, std::uint32_t other, std::size_t step) {
    des::Task stored =
        stage_.store(rank, other, static_cast<std::uint32_t>(bytes_ + mark), slot(other, step));
    co_await stored;
    des::Task came = stage_.watch(rank, slot(rank, step), 1);
    co_await came;
  }

  des::Task sum_on_gpus(std::uint32_t rank, std::uint32_t other, std::size_t step) {
    if (by_mpi(rank, other)) {
      des::Task swapped = stage_.swap(rank, stage_.mpi(), other, other, bytes_);
      co_await swapped;
    } else {
      des::Task put = exchange(rank, other, bytes_, step);
      co_await put;
    }
    constexpr double arrays = 3;  // two are read, one is written
    des::Task added = stage_.kernel(rank, "add", arrays * static_cast<double>(bytes_), 0);
    co_await added;
  }

  des::Task exchange(std::uint32_t rank, std::uint32_t other, std::uint64_t bytes, std::size_t step) {
    Chain& chain = players_[rank].chains.emplace_back(stage_.simulator(), rank);
    chain.puts.push_back(
        {.to = other, .rows = {.bytes = bytes}, .arrived = &slot(other, step), .notifies = true});
    des::Task started = stage_.start(rank, static_cast<std::uint32_t>(step % stage_.channels()), chain);
    co_await started;
    des::Task left = stage_.watch(rank, chain.sent, 1);
    co_await left;
    des::Task came = stage_.watch(rank, slot(rank, step), 1);
    co_await came;
  }

  des::Counter& slot(std::uint32_t rank, std::size_t step) {
    std::deque<des::Counter>& slots = players_[rank].slots;
    while (slots.size() <= step) slots.emplace_back(stage_.simulator(), des::Label{"a sum for rank", rank});
    return slots[step];
  }

  Stage& stage_;
  Scheme scheme_;
  std::uint64_t bytes_;
  std::uint32_t ranks_;
  std::deque<Player> players_;
};

}  // namespace

void run_bcast(Stage& stage, const Messages& messages) {
  Collective collective(stage, messages);
  collective.run(messages.scheme == Scheme::mpi ? &Collective::broadcast_mpi : &Collective::broadcast);
}

void run_allgather(Stage& stage, const Messages& messages) {
  Collective collective(stage, messages);
  collective.run(collective.takes_ring() ? &Collective::allgather_ring : &Collective::allgather);
}

void run_allreduce(Stage& stage, const Messages& messages) {
  Collective(stage, messages).run(&Collective::allreduce);
}

}  // namespace tca::tool
