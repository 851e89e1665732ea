// What a chain needs from the fabrics.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>

namespace tca::core {

// A channel between this rank and a partner: a fabric, and one of its protocols unless it only carries
// signals.
struct Need {
  int partner = 0;
  std::size_t fabric = 0;
  std::optional<std::size_t> protocol;

  auto operator<=>(const Need&) const = default;
};

}  // namespace tca::core
