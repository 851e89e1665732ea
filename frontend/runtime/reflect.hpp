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

// Exchanges ghosts of a layout's storage, corners too.
void exchange_ghosts(const xacc_layout& layout, const Widths& widths, const xacc_place& at);

}  // namespace tca::xacc
