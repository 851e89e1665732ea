#include "tca/team.cuh"
#include "team_kernels.hpp"

namespace tca::test {

namespace {

template <class T, class Combine>
__global__ void reduce_kernel(const __grid_constant__ DeviceTeam all, T* values, unsigned count,
                              unsigned* wrong) {
  BlockTeam team(all);
  if (!team.allreduce(values, count, Combine()) && threadIdx.x == 0) atomicAdd(wrong, 1u);
}

__device__ double share_of(unsigned rank, unsigned block, unsigned value, unsigned step) {
  return rank * 1000 + block * 10 + value % 7 + step % 1000;
}

__global__ void grid_sums_kernel(const __grid_constant__ DeviceTeam team, unsigned count, unsigned steps,
                                 unsigned* cells, unsigned* wrong) {
  extern __shared__ double mine[];
  GridTeam all(team);
  bool good = true;
  for (unsigned step = 1; good && step <= steps; ++step) {
    unsigned* const now = cells + step % 2 * gridDim.x;
    if (threadIdx.x == 0) now[blockIdx.x] = step;
    for (unsigned v = threadIdx.x; v < count; v += blockDim.x)
      mine[v] = share_of(all.rank(), blockIdx.x, v, step);
    good = step % 10 == 0   ? all.allreduce(mine, count, Max())
           : step % 10 == 5 ? all.barrier(mine, count, Sum())
                            : all.allreduce_sum(mine, count);
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x)
      if (*static_cast<volatile unsigned*>(now + b) != step) atomicAdd(wrong, 1u);
    for (unsigned v = threadIdx.x; v < count; v += blockDim.x) {
      double want = 0;
      for (unsigned rank = 0; rank < all.size(); ++rank)
        for (unsigned b = 0; b < gridDim.x; ++b) want += share_of(rank, b, v, step);
      if (step % 10 == 0) want = share_of(all.size() - 1, gridDim.x - 1, v, step);
      if (mine[v] != want) atomicAdd(wrong, 1u);
    }
    __syncthreads();
  }
  good = all.barrier() && good;
  if (!good && threadIdx.x == 0) atomicAdd(wrong, 1u);
}

}  // namespace

cudaError_t run_grid_sums(const DeviceTeam& team, unsigned blocks, unsigned threads, unsigned count,
                          unsigned steps, unsigned* cells, unsigned* wrong, cudaStream_t stream) {
  void* arguments[] = {const_cast<DeviceTeam*>(&team), &count, &steps, &cells, &wrong};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_sums_kernel), dim3(blocks), dim3(threads),
                                     arguments, count * sizeof(double), stream);
}

template <class T>
cudaError_t run_team_reduce(const DeviceTeam& team, ReduceOp op, T* values, unsigned count, unsigned* wrong,
                            cudaStream_t stream) {
  const auto kernel = op == ReduceOp::min ? reduce_kernel<T, Min> : reduce_kernel<T, Max>;
  kernel<<<1, 64, 0, stream>>>(team, values, count, wrong);
  return cudaGetLastError();
}
template cudaError_t run_team_reduce(const DeviceTeam&, ReduceOp, float*, unsigned, unsigned*, cudaStream_t);
template cudaError_t run_team_reduce(const DeviceTeam&, ReduceOp, double*, unsigned, unsigned*, cudaStream_t);

}  // namespace tca::test
