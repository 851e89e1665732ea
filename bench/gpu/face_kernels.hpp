// What contenders of one kind share on the GPU: values to send, their check, and packing for libraries that
// need it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "gpu/grid.hpp"

namespace tca::bench::gpu {

// Bytes that tell seed and place apart.
void fill_rows(std::byte* to, const Rows& rows, std::uint32_t seed, cudaStream_t stream);
// Adds to `*wrong` how many bytes are not what `fill_rows` wrote with that seed.
void check_rows(const std::byte* from, const Rows& rows, std::uint32_t seed, unsigned long long* wrong,
                cudaStream_t stream);

// A face of doubles: `rows` runs of `run`, `pitch` apart.
struct FaceRuns {
  unsigned rows, run;
  std::size_t pitch;
};
// Both faces of a cube, whose first elements are `low` and `high`, into or from a buffer: one after the
// other.
void pack_faces(const double* low, const double* high, FaceRuns face, double* buffer, cudaStream_t stream);
void unpack_faces(double* low, double* high, FaceRuns face, const double* buffer, cudaStream_t stream);

}  // namespace tca::bench::gpu
