// Full shadows: a node has all of a dimension in memory, and reflect brings what it does not own.
#include "runtime/move/gmove.hpp"

namespace tca::xacc {

bool has_full_shadow(const xacc_layout& layout) {
  for (std::size_t d = 0; d < layout.dims.size(); ++d)
    if (layout.full(d)) return true;
  return false;
}

// Everybody gets what the others own along dimensions with a full shadow.
void fill_full_shadows(xacc_array& a) {
  if (!a.layout || !has_full_shadow(*a.layout)) return;
  const xacc_section all = all_of(a);
  move(Side(all, Loops::all, true), Side(all, Loops::all));
}

}  // namespace tca::xacc
