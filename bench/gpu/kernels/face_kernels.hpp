// Kernels that pack faces for libraries that need it.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace tca::bench::gpu {

// A face of doubles: `rows` runs of `run` elements, `pitch` elements apart.
struct FaceRuns {
  unsigned rows, run;
  std::size_t pitch;
};
// Copy both faces of a cube, whose first elements are `low` and `high`, to or from a buffer, where one
// follows the other.
void pack_faces(const double* low, const double* high, FaceRuns face, double* buffer, cudaStream_t stream);
void unpack_faces(double* low, double* high, FaceRuns face, const double* buffer, cudaStream_t stream);

}  // namespace tca::bench::gpu
