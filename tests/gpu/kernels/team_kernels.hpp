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

}  // namespace tca::test
