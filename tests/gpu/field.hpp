// The field that the tests of starts exchange, and the kernels that write and check it.
//
// A field of `rows` x `pitch`: columns [0, width) are the left ghost, the last `width` the right one; what lies between is
// sent. Values tell rank, step and place apart.
#pragma once

#include <cuda_runtime.h>

#include "tca/device_bell.hpp"

namespace tca::test {

inline constexpr int rows = 96, pitch = 40, width = 12;

struct Field {
  long* u;
  int rank, left, right;
  unsigned* wrong;  // elements that were not as the neighbours sent them; memory of the host
};

void write_faces(const Field& field, long step, cudaStream_t stream);
void check_ghosts(const Field& field, long step, cudaStream_t stream);

// The step counts on the device, so that a replayed graph writes new values.
void write_next_faces(const Field& field, long* step, cudaStream_t stream);
void check_next_ghosts(const Field& field, const long* step, cudaStream_t stream);

// Steps `first`, `first` + 1, ... in one cooperative kernel.
cudaError_t run_steps(const DeviceChain& chain, const Field& field, long first, int steps,
                      cudaStream_t stream);
// The same by a block that has the engine run the chain.
cudaError_t ring_steps(const DeviceBell& bell, const Field& field, long first, int steps,
                       cudaStream_t stream);

}  // namespace tca::test
