/// @file
/// A window as an accelerator sees it: every rank's part of it. Passed to kernels by value; see
/// tca/window.cuh.
#pragma once

#include <cstdint>

#include "tca/detail/language.hpp"

namespace tca {

namespace device {

// Kernels reach at most so many ranks by themselves: the GPUs that one NVLink switch domain joins.
inline constexpr std::uint32_t max_ranks = 72;

// A kernel's put that was refused, as the host finds it.
struct Refusal {
  std::uint32_t window = 0;  // the window's number in the fabric, from 1 on; written last
  std::uint32_t rank = 0;
  std::uint64_t offset = 0, count = 0;  // elements
  std::uint64_t held = 0;               // how many elements the rank registered
};

}  // namespace device

template <class T>
struct DeviceWindow {
  static constexpr std::uint32_t max_ranks = device::max_ranks;

  std::uint32_t rank = 0, size = 1;
  /// The parts of all ranks, and their numbers of elements. Kernels read only this rank's part; they put into
  /// the others'.
  T* parts[max_ranks] = {};
  std::uint64_t elements[max_ranks] = {};

  std::uint32_t number = 0;
  std::uint32_t* refused = nullptr;    ///< counts the puts that were refused; in device memory
  device::Refusal* refusal = nullptr;  ///< tells of the first one; in pinned host memory
};

}  // namespace tca
