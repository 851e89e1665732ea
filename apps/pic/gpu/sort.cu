#include "pic/gpu/kernels.hpp"
#include "pic/gpu/step.cuh"

namespace tca::pic {

namespace {

template <class Number>
__global__ void count_particles(const __grid_constant__ OnGpu<Number> on) {
  const unsigned used = used_of(on);
  for (unsigned i = first_of_thread(); i < used; i += threads_of_grid())
    if (const std::int32_t cell = on.rows.cell[i]; cell != gap) atomicAdd(on.begin + cell + 1, 1U);
}

// Makes of each number the sum of all up to it, in one block, whose threads have a part each.
template <class Number>
__global__ void add_up_counts(const __grid_constant__ OnGpu<Number> on) {
  __shared__ unsigned sums[1024];
  const std::int64_t all = on.elements + 1, part = (all + blockDim.x - 1) / blockDim.x;
  const std::int64_t first = part * threadIdx.x, end = first + part < all ? first + part : all;
  unsigned sum = 0;
  for (std::int64_t i = first; i < end; ++i) sum += on.begin[i];
  sums[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned reach = 1; reach < blockDim.x; reach *= 2) {
    const unsigned before = threadIdx.x >= reach ? sums[threadIdx.x - reach] : 0;
    __syncthreads();
    sums[threadIdx.x] += before;
    __syncthreads();
  }
  sum = threadIdx.x > 0 ? sums[threadIdx.x - 1] : 0;
  for (std::int64_t i = first; i < end; ++i) on.begin[i] = sum += on.begin[i];
}

__device__ void copy_particle(const Rows& from, unsigned i, const Rows& to, unsigned j) {
  to.cell[j] = from.cell[i];
  for (int axis = 0; axis < 3; ++axis) {
    to.at[axis][j] = from.at[axis][i];
    to.p[axis][j] = from.p[axis][i];
  }
  to.charge[j] = from.charge[i];
}

template <class Number>
__global__ void scatter_particles(const __grid_constant__ OnGpu<Number> on) {
  const unsigned used = used_of(on);
  for (unsigned i = first_of_thread(); i < used; i += threads_of_grid())
    if (const std::int32_t cell = on.rows.cell[i]; cell != gap)
      copy_particle(on.rows, i, on.spare, atomicAdd(on.begin + cell, 1U));
}

template <class Number>
__global__ void copy_back(const __grid_constant__ OnGpu<Number> on) {
  const unsigned sorted = on.begin[on.elements];
  if (first_of_thread() == 0) *on.used = sorted;
  for (unsigned i = first_of_thread(); i < sorted; i += threads_of_grid())
    copy_particle(on.spare, i, on.rows, i);
}

}  // namespace

template <class Number>
cudaError_t launch_sort(const OnGpu<Number>& on, cudaStream_t stream) {
  const cudaError_t cleared =
      cudaMemsetAsync(on.begin, 0, static_cast<std::size_t>(on.elements + 1) * sizeof(unsigned), stream);
  if (cleared != cudaSuccess) return cleared;
  const unsigned blocks = blocks_for(on.capacity);
  count_particles<<<blocks, threads, 0, stream>>>(on);
  add_up_counts<<<1, 1024, 0, stream>>>(on);
  scatter_particles<<<blocks, threads, 0, stream>>>(on);
  copy_back<<<blocks, threads, 0, stream>>>(on);
  return cudaGetLastError();
}

template cudaError_t launch_sort(const OnGpu<double>&, cudaStream_t);
template cudaError_t launch_sort(const OnGpu<std::int64_t>&, cudaStream_t);

}  // namespace tca::pic
