/// @file
/// What a fold (tca/fold.hpp) has a kernel combine once everything has arrived with its chain: for each
/// cell that gets something, where that is, in the order in which it is combined.
#pragma once

#include "tca/device/memory.hpp"

namespace tca {

/// One field of a fold. All pointers are to this rank's device memory; elements are counted from `into` and
/// `from`.
struct DeviceFold {
  std::byte* into = nullptr;
  const std::byte* from = nullptr;       ///< what has arrived
  const std::uint64_t* cells = nullptr;  ///< elements of the field that get something, each once
  const std::uint64_t* begins =
      nullptr;  ///< by cell: where its own begin in `sources`; and where the last end
  const std::uint64_t* sources = nullptr;  ///< elements that have arrived
  std::uint64_t count = 0;                 ///< of cells
  std::uint64_t numbers = 1;               ///< of an element, which are combined one by one
};

namespace device {

/// Combines the numbers `first`, `first` + `stride`, ... of all the cells' numbers, which are of type T. No
/// two threads access the same number, so a grid needs no barrier within it.
template <class T, class Op>
TCA_DEVICE void fold_cells(const DeviceFold& fold, std::uint64_t first, std::uint64_t stride, Op op) {
  T* const into = reinterpret_cast<T*>(fold.into);
  const T* const from = reinterpret_cast<const T*>(fold.from);
  for (std::uint64_t i = first; i < fold.count * fold.numbers; i += stride) {
    const std::uint64_t cell = fold.numbers == 1 ? i : i / fold.numbers;
    const std::uint64_t number = fold.numbers == 1 ? 0 : i % fold.numbers;
    T* const at = into + fold.cells[cell] * fold.numbers + number;
    T value = *at;
    for (std::uint64_t k = fold.begins[cell]; k < fold.begins[cell + 1]; ++k)
      value = op(value, from[fold.sources[k] * fold.numbers + number]);
    *at = value;
  }
}

}  // namespace device
}  // namespace tca
