// What a chain needs of the fabrics.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>

namespace tca::core {

// A channel between this rank and a partner: a fabric, and a protocol of it unless it is only for signals.
struct Need {
  int partner = 0;
  std::size_t fabric = 0;
  std::optional<std::size_t> protocol;

  auto operator<=>(const Need&) const = default;
};

}  // namespace tca::core
