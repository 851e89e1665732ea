// Who works on one event: on the GPU the lanes of a block's warps, on the host a thread alone. Both have the same calls.
//
// Work on a few numbers is not worth sharing among warps, which would have to wait for each other at every turn: each warp
// does it as well, as Lanes::Few, and finds the same.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tca/device/memory.hpp"

namespace tca::trigger {

struct Alone {
  static constexpr std::uint32_t count = 1;
  static constexpr std::uint32_t a_circle = 1;  // lanes that add up what belongs to one circle
  using Few = Alone;

  TCA_DEVICE std::uint32_t lane() const { return 0; }
  TCA_DEVICE Few few() const { return {}; }
  // What the lanes have written is there for all.
  TCA_DEVICE void sync() const {}
  TCA_DEVICE float sum(float value) const { return value; }
  TCA_DEVICE float sum_of_circle(float value) const { return value; }
  TCA_DEVICE std::uint32_t most(std::uint32_t value) const { return value; }
  // How many lanes before this one have a true value; `all` becomes how many have one at all.
  TCA_DEVICE std::uint32_t before(bool value, std::uint32_t& all) const {
    all = value ? 1 : 0;
    return 0;
  }
  TCA_DEVICE void increase(std::uint16_t* numbers, std::uint32_t at) const { ++numbers[at]; }
};

#ifdef __CUDACC__
struct Warp {
  static constexpr std::uint32_t count = 32;
  static constexpr std::uint32_t all_lanes = ~0U;

  __device__ std::uint32_t lane() const { return threadIdx.x % count; }
  __device__ float sum(float value) const {
    for (std::uint32_t step = count / 2; step > 0; step /= 2)
      value += __shfl_xor_sync(all_lanes, value, step);
    return value;
  }
};

// Blocks have as many warps. `words` are in shared memory.
struct Warps {
  static constexpr std::uint32_t warps = 4, count = warps * Warp::count;
  static constexpr std::uint32_t a_circle = warps;
  using Few = Warp;

  std::uint32_t* words;

  __device__ std::uint32_t lane() const { return threadIdx.x; }
  __device__ Few few() const { return {}; }
  __device__ void sync() const { __syncthreads(); }
  __device__ float sum_of_circle(float value) const {
    for (std::uint32_t step = a_circle / 2; step > 0; step /= 2)
      value += __shfl_xor_sync(Warp::all_lanes, value, step);
    return value;
  }
  __device__ std::uint32_t most(std::uint32_t value) const {
    for (std::uint32_t step = Warp::count / 2; step > 0; step /= 2)
      value = max(value, __shfl_xor_sync(Warp::all_lanes, value, step));
    tell(value);
    for (std::uint32_t warp = 0; warp < warps; ++warp) value = max(value, words[warp]);
    sync();  // and the words may change
    return value;
  }
  __device__ std::uint32_t before(bool value, std::uint32_t& all) const {
    const std::uint32_t who = __ballot_sync(Warp::all_lanes, value);
    tell(static_cast<std::uint32_t>(__popc(who)));
    auto sum = static_cast<std::uint32_t>(__popc(who & ((1U << Warp().lane()) - 1)));
    all = 0;
    for (std::uint32_t warp = 0; warp < warps; ++warp) {
      if (warp < threadIdx.x / Warp::count) sum += words[warp];
      all += words[warp];
    }
    sync();
    return sum;
  }
  // There are no atomics of 16 bits on every GPU, so it adds to the word that has the number. None overflows.
  __device__ void increase(std::uint16_t* numbers, std::uint32_t at) const {
    atomicAdd(reinterpret_cast<unsigned*>(numbers) + at / 2, 1U << (at % 2 * 16));
  }

 private:
  __device__ void tell(std::uint32_t of_warp) const {
    if (Warp().lane() == 0) words[threadIdx.x / Warp::count] = of_warp;
    sync();
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
