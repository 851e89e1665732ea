#include "scorecard/mvapich.hpp"

#include <algorithm>

#include "base/fail.hpp"

namespace tca::tool {

namespace {

const net::MpiCollectives& limits_of(const net::MpiLibrary& library) {
  if (!library.collectives)
    base::fail(Errc::invalid_argument, "the machine file does not say what the collectives of `{}` do",
               library.name);
  return *library.collectives;
}

// Every rank twice: in its GPU, and then in its host.
std::vector<net::Mpi::Rank> both_ends(const Stage& stage) {
  std::vector<net::Mpi::Rank> ends;
  for (const bool in_host : {false, true})
    for (std::uint32_t rank = 0; rank < stage.ranks(); ++rank)
      ends.push_back({in_host ? stage.host(rank) : stage.memory(rank), stage.host(rank), 0});
  return ends;
}

std::uint32_t lowest_bit(std::uint32_t rank) { return rank & (~rank + 1); }

}  // namespace

Mvapich::Mvapich(Stage& stage, std::uint64_t bytes, bool own_copy)
    : stage_(stage),
      steps_(stage),
      library_(stage.mpi().library()),
      limits_(limits_of(library_)),
      ends_(stage.network(), stage.machine().host, library_, both_ends(stage)),
      bytes_(bytes),
      own_copy_(own_copy) {
  for (std::uint32_t rank = 0; rank < stage.ranks(); ++rank)
    arrived_.emplace_back(stage.simulator(), des::Label{"what comes to rank", rank});
}

void Mvapich::run(Program program) {
  for (std::uint32_t rank = 0; rank < stage_.ranks(); ++rank)
    stage_.simulator().spawn((this->*program)(rank), {"rank", rank});
  stage_.simulator().run();
}

void Mvapich::broadcast() {
  const bool direct = bytes_ <= limits_.direct;
  const bool staged = !direct && bytes_ <= limits_.bcast_staged;
  const Carrier by = staged ? Carrier::host_mpi : Carrier::mpi;
  if (direct || bytes_ <= limits_.segment)
    lay_tree(bytes_ <= limits_.segment ? limits_.tree : 2, by);
  else if (bytes_ >= limits_.scatter_from)
    lay_scatter_and_ring(by);
  else if (bytes_ >= limits_.whole_from || !staged)
    lay_tree(2, by);
  else
    segments_ = (bytes_ + limits_.segment - 1) / limits_.segment;
  run(staged ? &Mvapich::staged_broadcast : &Mvapich::play);
}

void Mvapich::allgather() {
  if (bytes_ * stage_.ranks() <= limits_.direct) {
    lay_doubling(Carrier::mpi);
    run(&Mvapich::direct_allgather);
  } else if (bytes_ <= limits_.allgather_staged) {
    lay_doubling(Carrier::host_mpi);
    run(&Mvapich::staged_allgather);
  } else {
    run(&Mvapich::ring_allgather);
  }
}

// A tree of the given degree: a rank that has the data sends it to degree - 1 others at a time, and to those
// who pass it on to most first. From GPUs, only the first of these waits until the GPU has been read; the
// others get what their sender's host has by then.
void Mvapich::lay_tree(std::uint32_t degree, Carrier by) {
  const std::uint32_t ranks = stage_.ranks();
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::uint32_t span = 1;
    while (span < ranks && rank % (span * degree) == 0) span *= degree;
    std::size_t turn = 0;
    for (std::uint32_t step = span / degree; step > 0; step /= degree) {
      ++turn;
      for (std::uint32_t child = rank + step; child < rank + degree * step && child < ranks; child += step)
        steps_.put({rank, turn}, {child, 0}, {.bytes = bytes_},
                   child == rank + step ? by : Carrier::host_mpi);
    }
  }
}

// Returns how many bytes of a broadcast `count` ranks from `first` on have once it has been scattered.
std::uint64_t Mvapich::share(std::uint32_t first, std::uint32_t count) const {
  const std::uint64_t part = (bytes_ + stage_.ranks() - 1) / stage_.ranks();
  return std::min(part * (first + count), bytes_) - std::min(part * first, bytes_);
}

// Halves down a binomial tree until every rank has its part, which then go round.
void Mvapich::lay_scatter_and_ring(Carrier by) {
  const std::uint32_t ranks = stage_.ranks();
  std::size_t levels = 0;
  while ((std::uint32_t{1} << levels) < ranks) ++levels;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::size_t turn = 0;
    for (std::uint32_t step = (rank == 0 ? ranks : lowest_bit(rank)) / 2; step > 0; step /= 2)
      steps_.put({rank, ++turn}, {rank + step, 0}, {.bytes = share(rank + step, step)}, by);
    for (std::uint32_t i = 0; i + 1 < ranks; ++i)
      steps_.put({rank, levels + 1 + i}, {(rank + 1) % ranks, levels + 1 + i},
                 {.bytes = share((rank + ranks - i) % ranks, 1)}, by);
  }
}

void Mvapich::lay_doubling(Carrier by) {
  for (std::uint32_t rank = 0; rank < stage_.ranks(); ++rank)
    for (std::uint32_t step = 1, turn = 0; step < stage_.ranks(); step *= 2, ++turn)
      steps_.put({rank, turn}, {rank ^ step, turn}, {.bytes = bytes_ * step}, by);
}

des::Task Mvapich::play(std::uint32_t rank) {
  for (std::size_t i = 0; i < steps_.count(rank); ++i) {
    des::Task step = steps_.run({rank, i}, 1);
    co_await step;
  }
}

des::Task Mvapich::staged_broadcast(std::uint32_t rank) {
  if (rank == 0) {
    des::Task out = copy_out(rank, bytes_);
    co_await out;
  }
  des::Task between_hosts = segments_ == 0 ? play(rank) : pass_segments(rank);
  co_await between_hosts;
  if (rank == 0) co_return;
  des::Task in = copy_in(rank, bytes_, by_driver(bytes_));
  co_await in;
}

des::Task Mvapich::direct_allgather(std::uint32_t rank) {
  des::Task own = copy_own(rank);
  co_await own;
  des::Task played = play(rank);
  co_await played;
}

des::Task Mvapich::staged_allgather(std::uint32_t rank) {
  des::Task out = copy_out(rank, bytes_);
  co_await out;
  des::Task between_hosts = play(rank);
  co_await between_hosts;
  const std::uint64_t all = bytes_ * stage_.ranks();
  des::Task in = copy_in(rank, all, by_driver(all));
  co_await in;
}

// A block goes from host to host until it has been everywhere. Only the first step reads a GPU, and only the last
// writes one; what comes in between is copied into the GPU while further blocks come. An event tells the host of
// the end of the copies, as of a kernel's.
des::Task Mvapich::ring_allgather(std::uint32_t rank) {
  const std::uint32_t ranks = stage_.ranks();
  des::Group copies(stage_.simulator(), {"the copies into the GPU of rank", rank});
  copies.spawn(copy_blocks(rank), {"copies of rank", rank});
  des::Task own = copy_own(rank);
  co_await own;
  for (std::uint32_t i = 0; i + 1 < ranks; ++i) {
    const auto from = [&](std::uint32_t sender) { return i == 0 ? sender : sender + ranks; };
    const auto to = [&](std::uint32_t receiver) { return i + 2 == ranks ? receiver : receiver + ranks; };
    const std::uint32_t left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    des::Group step(stage_.simulator(), {"a step of rank", rank});
    step.spawn(ends_.receive(from(left), to(rank), bytes_, i), {"receive of rank", rank});
    step.spawn(ends_.send(from(rank), to(right), bytes_, i), {"send of rank", rank});
    co_await step.done();
    arrived_[rank].add();
  }
  co_await copies.done();
  des::Task known = stage_.spend(rank, "synchronise", stage_.machine().gpu.synchronise);
  co_await known;
}

des::Task Mvapich::copy_blocks(std::uint32_t rank) {
  for (std::uint32_t block = 1; block + 1 < stage_.ranks(); ++block) {
    co_await arrived_[rank].reached(block);
    des::Task in = copy_in(rank, bytes_, 0);  // the ring's buffer is pinned
    co_await in;
  }
}

std::uint64_t Mvapich::segment_bytes(std::uint64_t segment) const {
  return std::min<std::uint64_t>(limits_.segment, bytes_ - segment * limits_.segment);
}

// Down a binomial tree, in segments: a rank passes one on while the next comes.
des::Task Mvapich::pass_segments(std::uint32_t rank) {
  des::Group sends(stage_.simulator(), {"the children of rank", rank});
  for (std::uint32_t step = (rank == 0 ? stage_.ranks() : lowest_bit(rank)) / 2; step > 0; step /= 2)
    sends.spawn(forward_segments(rank, rank + step), {"a child of rank", rank});
  if (rank == 0) arrived_[rank].add(segments_);
  for (std::uint64_t segment = 0; rank != 0 && segment < segments_; ++segment) {
    des::Task came = stage_.host_mpi().receive(rank - lowest_bit(rank), rank, segment_bytes(segment),
                                               static_cast<std::uint32_t>(segment));
    co_await came;
    arrived_[rank].add();
  }
  co_await sends.done();
}

des::Task Mvapich::forward_segments(std::uint32_t rank, std::uint32_t child) {
  for (std::uint64_t segment = 0; segment < segments_; ++segment) {
    co_await arrived_[rank].reached(segment + 1);
    des::Task sent =
        stage_.host_mpi().send(rank, child, segment_bytes(segment), static_cast<std::uint32_t>(segment));
    co_await sent;
  }
}

// The engine of a GPU reaches pinned memory alone. Between that and a buffer which is not, the driver copies.
des::Time Mvapich::by_driver(std::uint64_t bytes) const {
  return bytes < limits_.pinned_from ? net::copy_time(bytes, limits_.unpinned_bytes_per_s) : 0;
}

des::Task Mvapich::copy_out(std::uint32_t rank, std::uint64_t bytes) {
  const net::HostKind& host = stage_.machine().host;
  const des::Time by_engine = net::copy_time(bytes, host.from_gpu_bytes_per_s);
  return stage_.spend(rank, "out of the GPU",
                      library_.stage + host.copy_start + by_engine + by_driver(bytes));
}

des::Task Mvapich::copy_in(std::uint32_t rank, std::uint64_t bytes, des::Time by_driver) {
  const net::HostKind& host = stage_.machine().host;
  const des::Time by_engine = net::copy_time(bytes, host.to_gpu_bytes_per_s);
  return stage_.spend(rank, "into the GPU", library_.stage + host.copy_start + by_engine + by_driver);
}

// What a rank gives is copied to its place in the result.
des::Task Mvapich::copy_own(std::uint32_t rank) {
  if (!own_copy_) co_return;
  const net::Machine& machine = stage_.machine();
  des::Task copied = stage_.spend(
      rank, "copy",
      machine.host.copy_start + net::kernel_time(machine.gpu, 2 * static_cast<double>(bytes_), 0));
  co_await copied;
}

}  // namespace tca::tool
