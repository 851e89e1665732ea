// The kernels of a step on a GPU, in the order in which they are launched, and one that takes many steps.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "pic/gpu/on_gpu.hpp"
#include "tca/device/chain.hpp"
#include "tca/device/fold.hpp"
#include "tca/device/team.hpp"

namespace tca::pic {

inline constexpr unsigned threads = 256;  // of a block
inline unsigned blocks_for(std::int64_t items) {
  constexpr std::int64_t most = 2048;
  const std::int64_t blocks = (items + threads - 1) / threads;
  return blocks < 1 ? 1 : blocks > most ? most : static_cast<unsigned>(blocks);
}

template <class Number>
cudaError_t launch_advance_b(const OnGpu<Number>& on, cudaStream_t stream);
// Particles that leave for another rank are queued, and are gaps from then on.
template <class Number>
cudaError_t launch_push(const OnGpu<Number>& on, cudaStream_t stream);
template <class Number>
cudaError_t launch_advance_e(const OnGpu<Number>& on, cudaStream_t stream);

// A round of those that travel: those that did not fit into the round before take places in the queues; how many go is told;
// and what has come is appended.
template <class Number>
cudaError_t launch_queue_late(const OnGpu<Number>& on, cudaStream_t stream);
template <class Number>
cudaError_t launch_set_lengths(const OnGpu<Number>& on, const QueueEnds& ends, cudaStream_t stream);
template <class Number>
cudaError_t launch_take_in(const OnGpu<Number>& on, const QueueEnds& ends, cudaStream_t stream);

// Puts particles into the order of their cells, without gaps.
template <class Number>
cudaError_t launch_sort(const OnGpu<Number>& on, cudaStream_t stream);

// Adds what is known after a step to the first of the sums. For Gauss's law charges are added up, and once the fold has run they
// are compared with the field; the result belongs to one of the sums.
template <class Number>
cudaError_t launch_add_up(const OnGpu<Number>& on, cudaStream_t stream);
template <class Number>
cudaError_t launch_deposit(const OnGpu<Number>& on, cudaStream_t stream);
template <class Number>
cudaError_t launch_compare(const OnGpu<Number>& on, std::int64_t which, cudaStream_t stream);

// By which ranks agree on how many rounds particles need.
struct Travel {
  QueueEnds ends;
  DeviceTeam team;
};

// What one kernel needs that takes steps by itself.
template <class Number>
struct StepsPlan {
  OnGpu<Number> on;
  DeviceChain fold, halo, queues;
  DeviceFold folded;
  const Travel* travel;    // in the GPU's memory
  std::uint64_t* barrier;  // of the grid
};

// Of a kernel whose blocks all run at once, where so many ranks have the GPU.
template <class Number>
cudaError_t most_blocks_at_once(int ranks, unsigned& blocks);
// Steps from the next one on, what is known after each, and all rounds of those that travel.
template <class Number>
cudaError_t launch_steps(const StepsPlan<Number>& plan, unsigned steps, unsigned blocks, cudaStream_t stream);

}  // namespace tca::pic
