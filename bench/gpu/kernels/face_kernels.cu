#include <algorithm>

#include "gpu/kernels/face_kernels.hpp"

namespace tca::bench::gpu {

namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(std::size_t items, std::size_t most) {
  return static_cast<unsigned>(std::clamp<std::size_t>((items + threads - 1) / threads, 1, most));
}

__device__ std::size_t first() { return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; }
__device__ std::size_t all() { return std::size_t{gridDim.x} * blockDim.x; }

__global__ void pack(const double* low, const double* high, FaceRuns face, double* buffer) {
  const unsigned elements = face.rows * face.run;
  for (unsigned i = first(); i < 2 * elements; i += all()) {
    const unsigned at = i % elements;
    buffer[i] = (i < elements ? low : high)[at / face.run * face.pitch + at % face.run];
  }
}

__global__ void unpack(double* low, double* high, FaceRuns face, const double* buffer) {
  const unsigned elements = face.rows * face.run;
  for (unsigned i = first(); i < 2 * elements; i += all()) {
    const unsigned at = i % elements;
    (i < elements ? low : high)[at / face.run * face.pitch + at % face.run] = buffer[i];
  }
}

}  // namespace

void pack_faces(const double* low, const double* high, FaceRuns face, double* buffer, cudaStream_t stream) {
  pack<<<blocks_for(2 * face.rows * face.run, 512), threads, 0, stream>>>(low, high, face, buffer);
}

void unpack_faces(double* low, double* high, FaceRuns face, const double* buffer, cudaStream_t stream) {
  unpack<<<blocks_for(2 * face.rows * face.run, 512), threads, 0, stream>>>(low, high, face, buffer);
}

}  // namespace tca::bench::gpu
