// A DeviceWindow is a window as an accelerator sees it: every rank's part of it. It is passed to kernels by
// value; see tca/window.cuh.
#pragma once

#include <cstdint>

namespace tca {

namespace device {

// The most ranks that kernels reach by themselves: as many GPUs as one NVLink switch domain joins.
inline constexpr std::uint32_t max_ranks = 72;

// A kernel's put that was refused, as the host finds it.
struct Refusal {
  std::uint32_t window = 0;  // its number in the fabric, from 1 on; written last
  std::uint32_t rank = 0;
  std::uint64_t offset = 0, count = 0;  // elements
  std::uint64_t held = 0;               // elements that the rank registered
};

}  // namespace device

template <class T>
struct DeviceWindow {
  static constexpr std::uint32_t max_ranks = device::max_ranks;

  std::uint32_t rank = 0, size = 1;
  // Every rank's part and its number of elements, by rank. Parts of other ranks may be put into, but not
  // read.
  T* parts[max_ranks] = {};
  std::uint64_t elements[max_ranks] = {};

  std::uint32_t number = 0;
  std::uint32_t* refused = nullptr;    // how many puts; in device memory
  device::Refusal* refusal = nullptr;  // the first; in pinned host memory
};

}  // namespace tca
