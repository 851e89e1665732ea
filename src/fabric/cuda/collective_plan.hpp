// Who moves what in a collective that kernels run: what all ranks compute alike. Nothing here needs a GPU.
#pragma once

#include <vector>

#include "fabric/collective.hpp"
#include "tca/device/collective_lines.hpp"
#include "tca/device/collective_moves.hpp"

namespace tca::cuda {

using device::Word;

inline constexpr std::string_view kernel_ll = "kernel_ll", kernel_direct = "kernel_direct";

// The cheapest first.
std::vector<fabric::CollectiveWay> collective_ways(const fabric::CollectiveKind& kind);

// The kernels' size, the same on every rank; `limit` is for the blocks.
struct CollectiveGrid {
  unsigned blocks = 1, threads = 32;
};
CollectiveGrid lines_grid(const fabric::CollectiveKind& kind, unsigned limit);
CollectiveGrid moves_grid(const fabric::CollectiveKind& kind, unsigned limit);

// Where the buffers begin: this rank's own, and every rank's.
struct CollectivePlace {
  int rank = 0;
  std::byte* input = nullptr;
  std::vector<std::byte*> inputs, outputs;
};

// Everything but signals, lines and patience.
device::CollectiveLines plan_lines(const fabric::CollectiveKind& kind, const CollectivePlace& place);
device::CollectiveMoves plan_moves(const fabric::CollectiveKind& kind, const CollectivePlace& place);

}  // namespace tca::cuda
