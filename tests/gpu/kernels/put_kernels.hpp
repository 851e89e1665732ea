// Kernels that put by themselves, and check what their neighbours have put.
//
// Ranks stand in a ring. Each rank's part of the window has `room` elements to send from, then `room`
// elements that its left neighbour puts into. Values differ between ranks, steps and places.
#pragma once

#include <cuda_runtime.h>

#include "tca/device/team.hpp"
#include "tca/device/window.hpp"

namespace tca::test {

template <class T>
struct PutRing {
  DeviceWindow<T> window;
  DeviceTeam team;
  int room;
  int steps;
  // Counts, in host memory, the elements that differ from what the neighbour sent, and the calls that failed.
  unsigned* wrong;
};

// One block puts a run of elements, a different one in each step.
template <class T>
cudaError_t run_block_puts(const PutRing<T>& ring, cudaStream_t stream);

// Each thread of a block puts its own elements, one at a time and three at once.
cudaError_t run_thread_puts(const PutRing<float>& ring, cudaStream_t stream);

// All blocks of a cooperative grid put, and the first one signals for all of them.
cudaError_t run_grid_puts(const PutRing<float>& ring, cudaStream_t stream);

// Between barriers, one block puts `room` elements of shared memory to every rank, at `room` times its own
// rank in the window.
cudaError_t run_puts_to_all(const PutRing<float>& ring, cudaStream_t stream);

// One block tries to put `count` elements at `offset` on `rank`. Counts in `wrong` the threads whose put was
// not refused.
cudaError_t run_put(const DeviceWindow<float>& window, unsigned rank, std::uint64_t offset,
                    std::uint64_t count, unsigned* wrong, cudaStream_t stream);

// Waits for a signal of rank `from`. Counts in `wrong` the threads that got one.
cudaError_t run_wait_signal(const DeviceTeam& team, unsigned from, unsigned* wrong, cudaStream_t stream);

}  // namespace tca::test
