// Kernels that reduce by a team.
#pragma once

#include <cuda_runtime_api.h>

#include "tca/device/team.hpp"
#include "tca/types.hpp"

namespace tca::test {

// Replaces `count` values in device memory by their minima or maxima over all ranks. Adds one to `wrong` if the
// reduction fails.
template <class T>
cudaError_t run_team_reduce(const DeviceTeam& team, ReduceOp op, T* values, unsigned count, unsigned* wrong,
                            cudaStream_t stream);

// Sums `count` values over `blocks` blocks of every rank, step after step, with a GridTeam; shares are whole
// numbers below 2^20. `cells` has 2 x `blocks` words, which blocks write before a sum and others read behind
// it. Adds one to `wrong` for each value or word that is not what it should be.
cudaError_t run_grid_sums(const DeviceTeam& team, unsigned blocks, unsigned threads, unsigned count,
                          unsigned steps, unsigned* cells, unsigned* wrong, cudaStream_t stream);

}  // namespace tca::test
