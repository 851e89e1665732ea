// Exchanges of ghosts.
#pragma once

#include "runtime/runtime.hpp"

namespace tca::xacc {

// What is exchanged along each dimension: no more than its shadow, and nothing along those that are whole.
struct Widths {
  std::vector<GhostWidth> exchange;
  std::vector<bool> periodic;
};
// Of low, high and periodic for each dimension; null is the whole shadow.
Widths widths_of(const xacc_layout& layout, const std::int64_t* widths);

// Set up or found again, collective; null where there is nothing to exchange.
Halo* halo_of(const xacc_layout& layout, const Widths& widths, int flags, const xacc_place& at);
// What goes back along the halo, for a xacc_type.
Fold* fold_of(const xacc_layout& layout, const std::int64_t* widths, int type, const xacc_place& at);
// Exchanges ghosts of a layout's storage, corners too.
void exchange_ghosts(const xacc_layout& layout, const Widths& widths, const xacc_place& at);

}  // namespace tca::xacc
