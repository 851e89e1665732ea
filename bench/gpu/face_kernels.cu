#include <algorithm>

#include "gpu/face_kernels.hpp"

namespace tca::bench::gpu {

namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(std::size_t items, std::size_t most) {
  return static_cast<unsigned>(std::clamp<std::size_t>((items + threads - 1) / threads, 1, most));
}

__device__ std::size_t first() { return blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; }
__device__ std::size_t all() { return std::size_t{gridDim.x} * blockDim.x; }

// The finaliser of MurmurHash3 (Appleby, public domain), so that neighbouring places get different bytes.
__device__ std::uint8_t value(std::uint32_t seed, std::size_t place) {
  std::uint32_t h = seed * 0x9e3779b9u ^ static_cast<std::uint32_t>(place);
  h = (h ^ (h >> 16)) * 0x85ebca6bu;
  h = (h ^ (h >> 13)) * 0xc2b2ae35u;
  return static_cast<std::uint8_t>(h ^ (h >> 16));
}

__device__ std::size_t offset(const Rows& rows, std::size_t i) {
  return i / rows.row * rows.pitch + i % rows.row;
}

__global__ void fill(std::byte* to, Rows rows, std::size_t bytes, std::uint32_t seed) {
  for (std::size_t i = first(); i < bytes; i += all()) to[offset(rows, i)] = std::byte{value(seed, i)};
}

__global__ void compare(const std::byte* from, Rows rows, std::size_t bytes, std::uint32_t seed,
                        unsigned long long* wrong) {
  unsigned long long mine = 0;
  for (std::size_t i = first(); i < bytes; i += all())
    mine += from[offset(rows, i)] != std::byte{value(seed, i)};
  if (mine != 0) atomicAdd(wrong, mine);
}

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

void fill_rows(std::byte* to, const Rows& rows, std::uint32_t seed, cudaStream_t stream) {
  fill<<<blocks_for(rows.bytes(), 1024), threads, 0, stream>>>(to, rows, rows.bytes(), seed);
}

void check_rows(const std::byte* from, const Rows& rows, std::uint32_t seed, unsigned long long* wrong,
                cudaStream_t stream) {
  compare<<<blocks_for(rows.bytes(), 1024), threads, 0, stream>>>(from, rows, rows.bytes(), seed, wrong);
}

void pack_faces(const double* low, const double* high, FaceRuns face, double* buffer, cudaStream_t stream) {
  pack<<<blocks_for(2 * face.rows * face.run, 512), threads, 0, stream>>>(low, high, face, buffer);
}

void unpack_faces(double* low, double* high, FaceRuns face, const double* buffer, cudaStream_t stream) {
  unpack<<<blocks_for(2 * face.rows * face.run, 512), threads, 0, stream>>>(low, high, face, buffer);
}

}  // namespace tca::bench::gpu
