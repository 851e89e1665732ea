#include <cooperative_groups.h>

#include "put_kernels.hpp"
#include "tca/team.cuh"
#include "tca/window.cuh"

namespace tca::test {
namespace {

template <class T>
__device__ T value(unsigned rank, int step, std::uint64_t place) {
  return static_cast<T>((rank * 31 + step * 7 + place * 3) % 251);
}

__device__ unsigned left_of(const BlockTeam& team) { return (team.rank() + team.size() - 1) % team.size(); }
__device__ unsigned right_of(const BlockTeam& team) { return (team.rank() + 1) % team.size(); }

template <class T>
__device__ void fill(T* source, int room, unsigned rank, int step, int first, int stride) {
  for (int i = first; i < room; i += stride) source[i] = value<T>(rank, step, i);
}

// Lets a rank put only after its right neighbour has read the step before, and tells the left neighbour when
// this rank has read a step.
struct Turns {
  BlockTeam& team;
  __device__ bool may_put(int step) { return step == 1 || team.wait_signal(right_of(team)); }
  __device__ bool has_arrived() {
    team.signal(right_of(team));
    return team.wait_signal(left_of(team));
  }
  __device__ void has_read() { team.signal(left_of(team)); }
  // Takes the last signal, so that none is left for the next kernel.
  __device__ bool end() { return team.wait_signal(right_of(team)); }
};

template <class T>
__global__ void block_puts_kernel(const __grid_constant__ PutRing<T> ring) {
  const BlockWindow window(ring.window);
  BlockTeam team(ring.team);
  Turns turns{team};
  T* const source = window.data();
  const T* const arrived = source + ring.room;
  const int me = threadIdx.x, threads = blockDim.x;
  bool good = true;
  for (int step = 1; good && step <= ring.steps; ++step) {
    // Over the steps, both ends take every alignment.
    const int first = step % 17, offset = step % 19, count = ring.room - 20 - step % 3;
    fill(source, ring.room, team.rank(), step, me, threads);
    good = turns.may_put(step) && window.put(right_of(team), ring.room + offset, source + first, count) &&
           window.put(right_of(team), 2 * ring.room - 1, value<T>(team.rank(), step, me));
    for (int i = me; i < ring.room; i += threads) source[i] = 0;  // the put has copied it
    good = turns.has_arrived() && good;
    for (int i = me; good && i < count; i += threads) {
      if (arrived[offset + i] != value<T>(left_of(team), step, first + i)) atomicAdd(ring.wrong, 1u);
    }
    if (good && arrived[ring.room - 1] != value<T>(left_of(team), step, 0)) atomicAdd(ring.wrong, 1u);
    turns.has_read();
  }
  if (!good || !turns.end()) atomicAdd(ring.wrong, 1u);
}

// Each thread puts element 4 i on its own, and the next three at once from its own memory.
__global__ void thread_puts_kernel(const __grid_constant__ PutRing<float> ring) {
  const ThreadWindow window(ring.window);
  BlockTeam team(ring.team);
  Turns turns{team};
  const float* const arrived = window.data() + ring.room;
  bool good = true;
  for (int step = 1; good && step <= ring.steps; ++step) {
    good = turns.may_put(step);
    for (int i = threadIdx.x; good && 4 * i + 3 < ring.room; i += blockDim.x) {
      float three[3];
      for (int k = 0; k < 3; ++k) three[k] = value<float>(team.rank(), step, 4 * i + 1 + k);
      good = window.put(right_of(team), ring.room + 4 * i, value<float>(team.rank(), step, 4 * i)) &&
             window.put(right_of(team), ring.room + 4 * i + 1, three, 3);
    }
    good = __syncthreads_and(good) != 0 && turns.has_arrived();
    for (int i = threadIdx.x; good && i < ring.room / 4 * 4; i += blockDim.x) {
      if (arrived[i] != value<float>(left_of(team), step, i)) atomicAdd(ring.wrong, 1u);
    }
    turns.has_read();
  }
  if (!good || !turns.end()) atomicAdd(ring.wrong, 1u);
}

// Each block puts a share of the elements that other blocks wrote.
__global__ void grid_puts_kernel(const __grid_constant__ PutRing<float> ring) {
  const auto grid = cooperative_groups::this_grid();
  const BlockWindow window(ring.window);
  const unsigned rank = window.rank(), left = (rank + window.size() - 1) % window.size(),
                 right = (rank + 1) % window.size();
  float* const source = window.data();
  const float* const arrived = source + ring.room;
  const int all = gridDim.x * blockDim.x, share = ring.room / gridDim.x;
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  for (int step = 1; step <= ring.steps; ++step) {
    fill(source, ring.room, rank, step, me, all);
    grid.sync();
    const int first = (blockIdx.x + step) % gridDim.x * share;
    if (!window.put(right, ring.room + first, source + first, share)) atomicAdd(ring.wrong, 1u);
    grid.sync();  // the first block's signal covers the puts of all blocks
    if (blockIdx.x == 0) {
      BlockTeam team(ring.team);
      team.signal(right);
      if (!team.wait_signal(left)) atomicAdd(ring.wrong, 1u);
    }
    grid.sync();
    for (int i = me; i < share * static_cast<int>(gridDim.x); i += all) {
      if (arrived[i] != value<float>(left, step, i)) atomicAdd(ring.wrong, 1u);
    }
    grid.sync();
    if (blockIdx.x == 0) {
      BlockTeam team(ring.team);
      team.signal(left);
      if (!team.wait_signal(right)) atomicAdd(ring.wrong, 1u);
    }
    grid.sync();
    const bool failed = *static_cast<volatile unsigned*>(ring.wrong) != 0;
    grid.sync();
    if (failed) break;  // all blocks decide alike
  }
}

// One block puts `room` elements to each rank, itself included, behind those of the lower ranks.
__global__ void puts_to_all_kernel(const __grid_constant__ PutRing<float> ring) {
  const BlockWindow window(ring.window);
  BlockTeam team(ring.team);
  extern __shared__ float source[];
  bool good = true;
  for (int step = 1; good && step <= ring.steps; ++step) {
    fill(source, ring.room, team.rank(), step, threadIdx.x, blockDim.x);
    for (unsigned to = 0; to < team.size(); ++to) window.put(to, team.rank() * ring.room, source, ring.room);
    good = team.barrier();
    for (int i = threadIdx.x; good && i < ring.room * static_cast<int>(team.size()); i += blockDim.x) {
      if (window.data()[i] != value<float>(i / ring.room, step, i % ring.room)) atomicAdd(ring.wrong, 1u);
    }
    good = good && team.barrier();
  }
  if (!good) atomicAdd(ring.wrong, 1u);
}

__global__ void put_kernel(const __grid_constant__ DeviceWindow<float> window, unsigned rank,
                           std::uint64_t offset, std::uint64_t count, unsigned* wrong) {
  const BlockWindow block(window);
  if (block.put(rank, offset, block.data(), count)) atomicAdd(wrong, 1u);
}

__global__ void wait_signal_kernel(const __grid_constant__ DeviceTeam all, unsigned from, unsigned* wrong) {
  BlockTeam team(all);
  if (team.wait_signal(from)) atomicAdd(wrong, 1u);
  if (team.barrier()) atomicAdd(wrong, 1u);  // no signal wait is under way any more
}

}  // namespace

template <class T>
cudaError_t run_block_puts(const PutRing<T>& ring, cudaStream_t stream) {
  block_puts_kernel<<<1, 192, 0, stream>>>(ring);
  return cudaGetLastError();
}
template cudaError_t run_block_puts(const PutRing<unsigned char>&, cudaStream_t);
template cudaError_t run_block_puts(const PutRing<float>&, cudaStream_t);
template cudaError_t run_block_puts(const PutRing<double>&, cudaStream_t);

cudaError_t run_thread_puts(const PutRing<float>& ring, cudaStream_t stream) {
  thread_puts_kernel<<<1, 64, 0, stream>>>(ring);
  return cudaGetLastError();
}

cudaError_t run_grid_puts(const PutRing<float>& ring, cudaStream_t stream) {
  void* arguments[] = {const_cast<PutRing<float>*>(&ring)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_puts_kernel), dim3(4), dim3(128), arguments,
                                     0, stream);
}

cudaError_t run_puts_to_all(const PutRing<float>& ring, cudaStream_t stream) {
  puts_to_all_kernel<<<1, 96, ring.room * sizeof(float), stream>>>(ring);
  return cudaGetLastError();
}

cudaError_t run_put(const DeviceWindow<float>& window, unsigned rank, std::uint64_t offset,
                    std::uint64_t count, unsigned* wrong, cudaStream_t stream) {
  put_kernel<<<1, 64, 0, stream>>>(window, rank, offset, count, wrong);
  return cudaGetLastError();
}

cudaError_t run_wait_signal(const DeviceTeam& team, unsigned from, unsigned* wrong, cudaStream_t stream) {
  wait_signal_kernel<<<1, 64, 0, stream>>>(team, from, wrong);
  return cudaGetLastError();
}

}  // namespace tca::test
