// The field that the tests of starts exchange, and the kernels that write and check it.
//
// The field has `rows` x `pitch` elements. Columns [0, width) are the left ghost and the last `width` columns
// the right one. The columns next to the ghosts are sent. Values differ between ranks, steps and places.
#pragma once

#include <cuda_runtime.h>

#include "tca/device/doorbell.hpp"
#include "tca/device/fold.hpp"

namespace tca::test {

inline constexpr int rows = 96, pitch = 40, width = 12;

struct Field {
  long* u;
  int rank, left, right;
  // Counts, in host memory, the elements that differ from what the neighbours sent.
  unsigned* wrong;
};

void write_faces(const Field& field, long step, cudaStream_t stream);
void check_ghosts(const Field& field, long step, cudaStream_t stream);

// The step number lives on the device, so that a replayed graph writes new values.
void write_next_faces(const Field& field, long* step, cudaStream_t stream);
void check_next_ghosts(const Field& field, const long* step, cudaStream_t stream);

// Runs steps `first`, `first` + 1, ... in one cooperative kernel.
cudaError_t run_steps(const DeviceChain& chain, const Field& field, long first, int steps,
                      cudaStream_t stream);
// Does the same by one block that has the engine run the chain.
cudaError_t ring_steps(const DeviceDoorbell& doorbell, const Field& field, long first, int steps,
                       cudaStream_t stream);

// Runs a step of a fold, of which field 0 is of T and summed, and field 1 of two T an element and summed, in
// one cooperative kernel.
template <class T>
cudaError_t fold_step(const DeviceChain& chain, const DeviceFold& field, const DeviceFold& pairs,
                      cudaStream_t stream);

}  // namespace tca::test
