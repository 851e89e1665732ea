// Structs that begin with their size, from programs that were compiled with another version of tca/tca.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "c/calls.hpp"

namespace tca::c {

// Returns the program's struct, in this library's form: `defaults` where it does not reach. Throws Misuse
// where it is longer and sets something that this library does not know.
template <class Struct>
Struct taken(const Struct* given, Struct defaults, const char* what) {
  if (given == nullptr) return defaults;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < sizeof size || size > 65536)
    throw Misuse(fmt::format("the size of the {} is {}; set them by their _INIT", what, size));
  const auto* const bytes = reinterpret_cast<const std::byte*>(given);
  for (std::size_t i = sizeof(Struct); i < size; ++i) {
    if (bytes[i] != std::byte{0}) {
      throw Misuse(fmt::format("the {} set something at byte {} that OpenTCA {} does not know", what, i,
                               tca_library_version()));
    }
  }
  std::memcpy(&defaults, given, std::min(size, sizeof(Struct)));
  return defaults;
}

// What is kept for later versions is not set.
inline void require_unset(int reserved, const char* what) {
  if (reserved != 0) throw Misuse(fmt::format("the reserved field of the {} is {}, not 0", what, reserved));
}

}  // namespace tca::c
