// Walks a layout as equal rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tca/layout.hpp"

namespace tca::halo {

// Calls visit(first, rows, pitch) for each bundle of rows of `layout.run()` elements, `pitch` apart, in the
// order of the layout.
template <class Visit>
void for_each_rows(const Layout& layout, const Visit& visit) {
  const auto loop = [&](std::size_t i) {
    return i < layout.loops().size() ? layout.loops()[i] : Layout::Loop{1, 0};
  };
  const Layout::Loop rows = loop(0), planes = loop(1), cubes = loop(2);
  for (std::int64_t cube = 0; cube < cubes.count; ++cube) {
    for (std::int64_t plane = 0; plane < planes.count; ++plane)
      visit(layout.first() + cube * cubes.pitch + plane * planes.pitch, rows.count, rows.pitch);
  }
}

}  // namespace tca::halo
