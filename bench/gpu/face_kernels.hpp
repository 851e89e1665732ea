// Kernels that contenders share: they write the values to send, check them, and pack faces for libraries that
// need it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gpu/grid.hpp"

namespace tca::bench::gpu {

// Writes bytes that depend on the seed and the place.
void fill_rows(std::byte* to, const Rows& rows, std::uint32_t seed, cudaStream_t stream);
// Adds to `*wrong` the number of bytes that are not what `fill_rows` wrote with that seed.
void check_rows(const std::byte* from, const Rows& rows, std::uint32_t seed, unsigned long long* wrong,
                cudaStream_t stream);

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
