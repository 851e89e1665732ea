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

}  // namespace

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
