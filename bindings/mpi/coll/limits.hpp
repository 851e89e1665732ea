// Which sizes the library serves: those at which it was measured to be faster than MPI (docs/mpi.md). A root of MPI's leaves small
// messages behind and goes on, where ours waits until they are taken; for large ones, copying into the collective's memory and out of
// it costs what is gained.
#pragma once

#include <cstdint>

#include "mpi/hook.hpp"

namespace tca::interposer {

// In bytes of a block: what one rank gives to one other, or has combined.
struct Sizes {
  std::int64_t least, most;
  constexpr bool contain(std::int64_t bytes) const { return least <= bytes && bytes <= most; }
};

#ifdef OPEN_MPI
inline constexpr bool is_open_mpi = true;
#else
inline constexpr bool is_open_mpi = false;
#endif

// A call with large counts is served like the other, which ranks may mix with it.
constexpr Call with_small_counts(Call call) {
#if MPI_VERSION >= 4
  switch (call) {
    case Call::Bcast_c:
      return Call::Bcast;
    case Call::Reduce_c:
      return Call::Reduce;
    case Call::Allreduce_c:
      return Call::Allreduce;
    case Call::Allgather_c:
      return Call::Allgather;
    case Call::Alltoall_c:
      return Call::Alltoall;
    case Call::Reduce_scatter_block_c:
      return Call::Reduce_scatter_block;
    case Call::Neighbor_allgather_c:
      return Call::Neighbor_allgather;
    case Call::Neighbor_allgatherv_c:
      return Call::Neighbor_allgatherv;
    case Call::Neighbor_alltoall_c:
      return Call::Neighbor_alltoall;
    case Call::Neighbor_alltoallv_c:
      return Call::Neighbor_alltoallv;
    case Call::Neighbor_alltoallw_c:
      return Call::Neighbor_alltoallw;
    default:
      break;
  }
#endif
  return call;
}

constexpr Sizes served_sizes(Call call) {
  switch (with_small_counts(call)) {
    case Call::Barrier:
      return {0, 0};
    case Call::Bcast:
      return is_open_mpi ? Sizes{256, 4096} : Sizes{1, 256};
    case Call::Reduce:
      return is_open_mpi ? Sizes{512, 2048} : Sizes{1, 512};
    case Call::Allreduce:
      return {1, is_open_mpi ? 32768 : 2048};
    case Call::Allgather:
      return {1, is_open_mpi ? 4096 : 1024};
    case Call::Alltoall:
      return {1, is_open_mpi ? 4096 : 1024};
    case Call::Reduce_scatter_block:
      return {1, is_open_mpi ? 32768 : 512};
    case Call::Neighbor_allgather:
    case Call::Neighbor_allgatherv:
    case Call::Neighbor_alltoall:
    case Call::Neighbor_alltoallv:
    case Call::Neighbor_alltoallw:
      return {0, 1024};
    default:
      return {1, 0};  // none
  }
}

}  // namespace tca::interposer
