// Broadcast and allgather: by PEACH2 as the benchmarks of HA-PACS/TCA do them, by an MPI library, and by both, when the
// largest step goes over InfiniBand (S3, 5.4 and 5.5).
#include <algorithm>
#include <bit>
#include <deque>

#include "base/fail.hpp"
#include "scorecard_lab.hpp"

namespace tca::tool {

namespace {

std::uint32_t ranks_of(const net::Machine& machine, const RunSettings& settings) {
  net::check_ranks(machine, static_cast<std::uint64_t>(settings.ranks));
  const auto ranks = static_cast<std::uint32_t>(settings.ranks);
  if (!std::has_single_bit(ranks))
    base::fail(Errc::invalid_argument, "{} ranks: these collectives are for powers of two", ranks);
  return ranks;
}

// What a rank that takes part in chains has: where it gets data, and the flags it looks at.
struct Player {
  Player(des::Simulator& simulator, std::uint32_t rank)
      : arrived(simulator, {"data for rank", rank}), sent(simulator, {"the flag of rank", rank}) {}
  des::Counter arrived, sent;
  std::vector<net::DmaChain> chains;  // one a start
};

std::deque<Player> make_players(Lab& lab, std::uint32_t ranks) {
  std::deque<Player> players;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) players.emplace_back(lab.simulator(), rank);
  return players;
}

net::Descriptor descriptor(Lab& lab, std::deque<Player>& players, std::uint32_t from, std::uint32_t to,
                           std::uint64_t bytes) {
  return {.from = lab.gpu(from),
          .to = lab.gpu(to),
          .rows = {.bytes = bytes},
          .arrived = &players[to].arrived,
          .sent = &players[from].sent};
}

// Rank r has the data after the step whose span is the lowest bit set in r, and hands it on to r + span / 2, ... + 1.
std::uint32_t span_of(std::uint32_t rank, std::uint32_t ranks) {
  return rank == 0 ? ranks : rank & (~rank + 1);
}

struct Tree {
  std::uint32_t ranks = 0;
  std::uint64_t bytes = 0;
  bool hybrid = false;  // the first step, from rank 0 to rank ranks / 2, goes by MPI
};

des::Task broadcast(Lab& lab, std::deque<Player>& players, std::uint32_t rank, Tree tree) {
  const std::uint32_t span = span_of(rank, tree.ranks);
  const std::uint32_t half = tree.ranks / 2;
  if (rank != 0 && !(tree.hybrid && rank == half)) {
    des::Task came = lab.watch(players[rank].arrived, 1);
    co_await came;
  }
  if (tree.hybrid && rank == 0) {
    des::Task sent = lab.mpi().send(0, half, tree.bytes);
    co_await sent;
  }
  if (tree.hybrid && rank == half) {
    des::Task received = lab.mpi().receive(0, half, tree.bytes);
    co_await received;
  }
  net::DmaChain& chain = players[rank].chains.emplace_back();
  for (std::uint32_t step = span / 2; step > 0; step /= 2)
    if (!(tree.hybrid && step == half))
      chain.descriptors.push_back(descriptor(lab, players, rank, rank + step, tree.bytes));
  if (chain.descriptors.empty()) co_return;
  des::Task started = lab.ring(rank, 0, chain);
  co_await started;
  des::Task left = lab.watch(players[rank].sent, chain.descriptors.size());
  co_await left;
}

// A tree: whoever has the data sends it to degree - 1 others a level, farthest level first, one after the other.
des::Task broadcast_tree(net::Mpi& mpi, std::uint32_t rank, Tree tree, std::uint32_t degree) {
  std::uint32_t span = 1;
  while (span < tree.ranks && rank % (span * degree) == 0) span *= degree;
  if (rank != 0) {
    des::Task received = mpi.receive(rank - rank % (span * degree), rank, tree.bytes);
    co_await received;
  }
  for (std::uint32_t step = span / degree; step > 0; step /= degree)
    for (std::uint32_t child = 1; child < degree; ++child) {
      if (rank + child * step >= tree.ranks) continue;
      des::Task sent = mpi.send(rank, rank + child * step, tree.bytes);
      co_await sent;
    }
}

// Small data is taken out of rank 0's GPU once, goes from host to host, and into the GPUs in the end; other data goes from
// GPU to GPU, in a binomial tree.
des::Task broadcast_mpi(Lab& lab, std::uint32_t rank, Tree tree) {
  const net::MpiLibrary& library = lab.mpi().library();
  if (static_cast<std::int64_t>(tree.bytes) > library.eager_limit) {
    des::Task between_gpus = broadcast_tree(lab.mpi(), rank, tree, 2);
    co_await between_gpus;
    co_return;
  }
  const net::HostKind& host = lab.machine().host;
  const bool inlined = static_cast<std::int64_t>(tree.bytes) <= library.inline_limit;
  const double rate = rank == 0 ? lab.machine().network.node.units[lab.gpu(0).unit].memory->read_bytes_per_s
                                : host.store_to_gpu_bytes_per_s;
  const des::Time moving = des::from_us(static_cast<double>(tree.bytes) / rate * 1e6);
  const des::Time reading = rank == 0 && !inlined ? library.read_start : 0;
  if (rank == 0) co_await lab.simulator().sleep(library.gpu + reading + moving);
  des::Task between_hosts = broadcast_tree(lab.host_mpi(), rank, tree, library.tree);
  co_await between_hosts;
  if (rank != 0) co_await lab.simulator().sleep(library.gpu + moving);
}

des::Task exchange_mpi(Lab& lab, std::uint32_t rank, std::uint32_t other, std::uint64_t bytes) {
  des::Group both(lab.simulator(), {"an exchange of rank", rank});
  both.spawn(lab.mpi().send(rank, other, bytes), {"send of rank", rank});
  both.spawn(lab.mpi().receive(other, rank, bytes), {"receive of rank", rank});
  co_await both.done();
}

// Recursive doubling: with rank ^ 1 first, with twice the data and rank ^ 2 then, and so on. The steps below `direct` go by
// PEACH2, the rest by MPI.
des::Task allgather(Lab& lab, std::deque<Player>& players, std::uint32_t rank, Tree tree,
                    std::uint32_t direct) {
  std::uint64_t bytes = tree.bytes;
  std::uint64_t starts = 0;
  for (std::uint32_t mask = 1; mask < tree.ranks; mask *= 2, bytes *= 2) {
    const std::uint32_t other = rank ^ mask;
    if (mask >= direct) {
      des::Task exchanged = exchange_mpi(lab, rank, other, bytes);
      co_await exchanged;
      continue;
    }
    Player& own = players[rank];
    own.chains[starts].descriptors = {descriptor(lab, players, rank, other, bytes)};
    des::Task started = lab.ring(rank, static_cast<std::uint32_t>(starts % 4), own.chains[starts]);
    co_await started;
    ++starts;
    des::Task left = lab.watch(own.sent, starts);
    co_await left;
    des::Task came = lab.watch(own.arrived, starts);
    co_await came;
  }
}

// Around a ring: each step passes on what came in the one before.
des::Task allgather_ring(Lab& lab, std::uint32_t rank, Tree tree) {
  const std::uint32_t next = (rank + 1) % tree.ranks, last = (rank + tree.ranks - 1) % tree.ranks;
  for (std::uint32_t step = 1; step < tree.ranks; ++step) {
    des::Group both(lab.simulator(), {"a step of the ring of rank", rank});
    both.spawn(lab.mpi().send(rank, next, tree.bytes), {"send of rank", rank});
    both.spawn(lab.mpi().receive(last, rank, tree.bytes), {"receive of rank", rank});
    co_await both.done();
  }
}

bool takes_ring(const net::Machine& machine, const RunSettings& settings) {
  if (settings.scheme != "mpi") return false;
  const net::MpiLibrary& library = net::find_mpi(machine, settings.library);
  return settings.bytes >= library.ring_from && settings.bytes <= library.ring_to;
}

}  // namespace

double run_bcast(const net::Machine& machine, const RunSettings& settings) {
  const Tree tree{ranks_of(machine, settings), static_cast<std::uint64_t>(settings.bytes),
                  settings.scheme == "hybrid"};
  Lab lab(machine, settings);
  std::deque<Player> players = make_players(lab, tree.ranks);
  for (std::uint32_t rank = 0; rank < tree.ranks; ++rank) {
    if (settings.scheme == "mpi")
      lab.simulator().spawn(broadcast_mpi(lab, rank, tree), {"rank", rank});
    else
      lab.simulator().spawn(broadcast(lab, players, rank, tree), {"rank", rank});
  }
  return lab.run();
}

double run_allgather(const net::Machine& machine, const RunSettings& settings) {
  const Tree tree{ranks_of(machine, settings), static_cast<std::uint64_t>(settings.bytes),
                  settings.scheme == "hybrid"};
  const std::uint32_t direct = settings.scheme == "mpi" ? 1 : tree.hybrid ? tree.ranks / 2 : tree.ranks;
  Lab lab(machine, settings);
  std::deque<Player> players = make_players(lab, tree.ranks);
  for (std::uint32_t rank = 0; rank < tree.ranks; ++rank) {
    players[rank].chains.resize(static_cast<std::size_t>(std::countr_zero(tree.ranks)));
    if (takes_ring(machine, settings))
      lab.simulator().spawn(allgather_ring(lab, rank, tree), {"rank", rank});
    else
      lab.simulator().spawn(allgather(lab, players, rank, tree, direct), {"rank", rank});
  }
  return lab.run();
}

}  // namespace tca::tool
