// One kernel takes many steps: with its grid's barriers in place of launches, and steps of chains that it takes itself.
#include <algorithm>

#include "pic/gpu/kernels.hpp"
#include "pic/gpu/step.cuh"
#include "pic/gpu/sums.cuh"
#include "tca/chain.cuh"
#include "tca/operations.hpp"
#include "tca/team.cuh"

namespace tca::pic {

namespace {

// By one block of a rank. Of a sum in vain 0 is left, so that all blocks go on alike up to the next barrier, which tells them.
__device__ __noinline__ bool add_up_unfinished(const Travel& travel) {
  BlockTeam team(travel.team);
  const bool good = team.allreduce_sum(travel.ends.unfinished, 1);
  if (!good && threadIdx.x == 0) *travel.ends.unfinished = 0;
  return good;
}

// Once for all chains and plasmas, since they take minutes to compile; what that costs is far below a microsecond a step.
__device__ __noinline__ void arrive(GridChain& chain) { chain.arrive(); }
__device__ __noinline__ void start(GridChain& chain) { chain.start(); }
__device__ __noinline__ bool wait(GridChain& chain) { return chain.wait(); }

template <class Number>
class Stepper {
 public:
  __device__ explicit Stepper(const StepsPlan<Number>& plan)
      : plan_(plan),
        on_(plan.on),
        fold_(plan.fold),
        halo_(plan.halo),
        queues_(plan.queues),
        step_(*on_.step),
        is_alone_(on_.neighbours == 0) {}

  // As on hosts; see solver.cpp. False on all blocks where a rank has not come.
  __device__ bool step(Sums& sums) {
    advance_b_everywhere(on_);
    clear_flow(on_);
    if (!meet()) return false;
    count_step(on_);
    add_over_block(on_.dims == 2 ? push_particles<2>(on_) : push_particles<3>(on_), &sums.kinetic_energy);
    if (!gather_flow()) return false;
    if (on_.wall_below || on_.wall_above) {
      let_light_out(on_);
      if (!meet()) return false;
    }
    advance_e_and_emit(on_, step_++);
    if (!exchange()) return false;
    if (!is_alone_ && !travel_further(sums)) return false;
    add_up(on_, sums);
    return true;
  }

 private:
  // A barrier of the grid, which tells all blocks where one has given up.
  __device__ bool meet() { return good_ = device::grid_barrier(plan_.barrier, good_); }

  // What other ranks' particles have left in this rank's cells; and B is advanced. Particles travel meanwhile, whose queues are
  // full once all blocks have come to the fold's start.
  __device__ bool gather_flow() {
    if (is_alone_) {
      advance_b_everywhere(on_);
      return meet();
    }
    start(fold_);
    if (blockIdx.x == 0 && threadIdx.x < 32) set_lengths(on_, plan_.travel->ends);
    arrive(queues_);
    advance_b_everywhere(on_);
    start(queues_);
    if (!wait(fold_)) return false;
    device::fold_cells<Number>(plan_.folded, first_of_thread(), threads_of_grid(), Sum());
    return meet();
  }

  // E's ghosts, and the first round of particles.
  __device__ bool exchange() {
    if (is_alone_) return meet();
    start(halo_);
    if (!wait(queues_)) return false;
    take_in_round();
    return wait(halo_);
  }

  __device__ void take_in_round() {
    if (blockIdx.x == 0) good_ = add_up_unfinished(*plan_.travel) && good_;
    take_in(on_, plan_.travel->ends);
  }

  // Each time behind a barrier, since which the number of ranks that need a further round stands.
  __device__ bool travel_further(Sums& sums) {
    unsigned long long rounds = 1;
    for (; *static_cast<const volatile double*>(plan_.travel->ends.unfinished) != 0; ++rounds) {
      queue_late(on_);
      if (!meet()) return false;
      if (blockIdx.x == 0 && threadIdx.x < 32) set_lengths(on_, plan_.travel->ends);
      start(queues_);
      if (!wait(queues_)) return false;
      take_in_round();
      if (!meet()) return false;
    }
    if (first_of_thread() == 0) sums.rounds = rounds;
    return true;
  }

  const StepsPlan<Number>& plan_;
  const OnGpu<Number>& on_;
  GridChain fold_, halo_, queues_;
  unsigned long long step_;
  bool is_alone_;
  bool good_ = true;
};

template <class Number>
__global__ void __launch_bounds__(threads, 2)
    steps_kernel(const __grid_constant__ StepsPlan<Number> plan, unsigned steps) {
  Stepper<Number> stepper(plan);
  for (unsigned n = 0; n < steps; ++n)
    if (!stepper.step(plan.on.sums[n])) return;
}

}  // namespace

template <class Number>
cudaError_t most_blocks_at_once(int ranks, unsigned& blocks) {
  int device = 0, multiprocessors = 0, each = 0;
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (result == cudaSuccess)
    result = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, steps_kernel<Number>, threads, 0);
  blocks = static_cast<unsigned>(each * multiprocessors / ranks);
  return result;
}

template <class Number>
cudaError_t launch_steps(const StepsPlan<Number>& plan, unsigned steps, unsigned blocks,
                         cudaStream_t stream) {
  void* arguments[] = {const_cast<StepsPlan<Number>*>(&plan), &steps};
  return cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(steps_kernel<Number>), dim3(blocks),
                                     dim3(threads), arguments, 0, stream);
}

template cudaError_t most_blocks_at_once<double>(int, unsigned&);
template cudaError_t most_blocks_at_once<std::int64_t>(int, unsigned&);
template cudaError_t launch_steps(const StepsPlan<double>&, unsigned, unsigned, cudaStream_t);
template cudaError_t launch_steps(const StepsPlan<std::int64_t>&, unsigned, unsigned, cudaStream_t);

}  // namespace tca::pic
