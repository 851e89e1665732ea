// Kernels that put by themselves, and check what their neighbours have put.
//
// Ranks stand in a ring. Each rank's part of the window is `room` elements to send from, then `room` that its left
// neighbour puts into. Values tell rank, step and place apart.
#pragma once

#include <cuda_runtime.h>

#include "tca/device_team.hpp"
#include "tca/device_window.hpp"

namespace tca::test {

template <class T>
struct PutRing {
  DeviceWindow<T> window;
  DeviceTeam team;
  int room;
  int steps;
  unsigned*
      wrong;  // elements that were not as the neighbour sent them, and calls that failed; memory of the host
};

// One block puts runs of elements, another run each step.
template <class T>
cudaError_t run_block_puts(const PutRing<T>& ring, cudaStream_t stream);

// Each thread of a block puts elements of its own, one by one and a few at once.
cudaError_t run_thread_puts(const PutRing<float>& ring, cudaStream_t stream);

// All blocks of a cooperative grid put, and the first signals for all of them.
cudaError_t run_grid_puts(const PutRing<float>& ring, cudaStream_t stream);

// One block puts `room` elements of shared memory to every rank, `room` times its rank into the window, between barriers.
cudaError_t run_puts_to_all(const PutRing<float>& ring, cudaStream_t stream);

// One block wants to put `count` elements at `offset` of `rank`. Counts in `wrong` the threads that were not refused.
cudaError_t run_put(const DeviceWindow<float>& window, unsigned rank, std::uint64_t offset,
                    std::uint64_t count, unsigned* wrong, cudaStream_t stream);

// Waits for a signal of that rank; counts in `wrong` the threads that got one.
cudaError_t run_wait_signal(const DeviceTeam& team, unsigned from, unsigned* wrong, cudaStream_t stream);

}  // namespace tca::test
