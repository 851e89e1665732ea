// Who works on one event: on the GPU the 32 lanes of a warp, on the host a thread alone. Both have the same calls.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tca/device/memory.hpp"

namespace tca::trigger {

TCA_DEVICE std::uint32_t number_of_bits(std::uint32_t word) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__popc(word));
#else
  return static_cast<std::uint32_t>(__builtin_popcount(word));
#endif
}

struct Alone {
  static constexpr std::uint32_t count = 1;

  TCA_DEVICE std::uint32_t lane() const { return 0; }
  // What the lanes have written is there for all.
  TCA_DEVICE void sync() const {}
  TCA_DEVICE float sum(float value) const { return value; }
  TCA_DEVICE std::uint32_t most(std::uint32_t value) const { return value; }
  // The lanes for which it is true, as bits, and how many of these come before this one.
  TCA_DEVICE std::uint32_t ballot(bool value) const { return value ? 1 : 0; }
  TCA_DEVICE std::uint32_t before(std::uint32_t) const { return 0; }
  TCA_DEVICE void increase(std::uint16_t* numbers, std::uint32_t at) const { ++numbers[at]; }
};

#ifdef __CUDACC__
struct Warp {
  static constexpr std::uint32_t count = 32;
  static constexpr std::uint32_t all = ~0U;

  __device__ std::uint32_t lane() const { return threadIdx.x % count; }
  __device__ void sync() const { __syncwarp(); }
  __device__ float sum(float value) const {
    for (std::uint32_t step = count / 2; step > 0; step /= 2) value += __shfl_xor_sync(all, value, step);
    return value;
  }
  __device__ std::uint32_t most(std::uint32_t value) const {
    for (std::uint32_t step = count / 2; step > 0; step /= 2)
      value = max(value, __shfl_xor_sync(all, value, step));
    return value;
  }
  __device__ std::uint32_t ballot(bool value) const { return __ballot_sync(all, value); }
  __device__ std::uint32_t before(std::uint32_t who) const {
    return number_of_bits(who & ((1U << lane()) - 1));
  }
  // There are no atomics of 16 bits on every GPU, so it adds to the word that has the number. None overflows.
  __device__ void increase(std::uint16_t* numbers, std::uint32_t at) const {
    atomicAdd(reinterpret_cast<unsigned*>(numbers) + at / 2, 1U << (at % 2 * 16));
  }
};
#endif

template <class Lanes, std::size_t size>
TCA_DEVICE void clear(const Lanes& lanes, std::uint16_t (&numbers)[size]) {
  static_assert(size % 2 == 0);
  auto* words = reinterpret_cast<std::uint32_t*>(numbers);
  for (std::uint32_t at = lanes.lane(); at < size / 2; at += Lanes::count) words[at] = 0;
}

}  // namespace tca::trigger
