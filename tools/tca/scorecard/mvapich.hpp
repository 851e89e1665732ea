// MVAPICH2's broadcast and allgather of GPU memory, as the sources of version 2.2 have them for a process a
// node: which algorithm at which size, and what goes through the hosts. docs/model.md, "MPI".
#pragma once

#include <deque>

#include "model/steps.hpp"

namespace tca::tool {

class Mvapich {
 public:
  // Of `bytes`, in an allgather from each rank, who gives them out of another buffer if `own_copy`. The library
  // must have collectives in its machine file.
  Mvapich(Stage& stage, std::uint64_t bytes, bool own_copy);

  // Both run until nothing is left to do, once.
  void broadcast();
  void allgather();

 private:
  using Program = des::Task (Mvapich::*)(std::uint32_t rank);

  void run(Program program);
  void lay_tree(std::uint32_t degree, Carrier by);
  void lay_scatter_and_ring(Carrier by);
  void lay_doubling(Carrier by);
  std::uint64_t share(std::uint32_t first, std::uint32_t count) const;

  des::Task play(std::uint32_t rank);
  des::Task staged_broadcast(std::uint32_t rank);
  des::Task direct_allgather(std::uint32_t rank);
  des::Task staged_allgather(std::uint32_t rank);
  des::Task ring_allgather(std::uint32_t rank);
  des::Task copy_blocks(std::uint32_t rank);

  std::uint64_t segment_bytes(std::uint64_t segment) const;
  des::Task pass_segments(std::uint32_t rank);
  des::Task forward_segments(std::uint32_t rank, std::uint32_t child);

  des::Time by_driver(std::uint64_t bytes) const;
  des::Task copy_out(std::uint32_t rank, std::uint64_t bytes);
  des::Task copy_in(std::uint32_t rank, std::uint64_t bytes, des::Time by_driver);
  des::Task copy_own(std::uint32_t rank);

  Stage& stage_;
  Steps steps_;
  const net::MpiLibrary& library_;
  const net::MpiCollectives& limits_;
  net::Mpi ends_;  // of every rank in its GPU, and then of every rank in its host
  std::uint64_t bytes_;
  bool own_copy_;
  std::uint64_t segments_ = 0;        // of a broadcast that is pipelined, else 0
  std::deque<des::Counter> arrived_;  // segments, or blocks of the ring, by rank
};

}  // namespace tca::tool
