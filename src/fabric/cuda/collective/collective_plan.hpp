// Plans a collective that kernels run: which rank moves which bytes. All ranks compute the same plan, and
// nothing here needs a GPU.
#pragma once

#include <vector>

#include "fabric/collective.hpp"
#include "tca/device/collective_moves.hpp"
#include "tca/device/collective_packets.hpp"

namespace tca::cuda {

using device::Word;

inline constexpr std::string_view kernel_ll = "kernel_ll", kernel_direct = "kernel_direct";

// The ways to run a collective, the cheapest first.
std::vector<fabric::CollectiveWay> collective_ways(const fabric::CollectiveSpec& spec);

// The size of the kernels, the same on every rank. They have at most `limit` blocks.
struct CollectiveGrid {
  unsigned blocks = 1, threads = 32;
};
CollectiveGrid packets_grid(const fabric::CollectiveSpec& spec, unsigned limit);
CollectiveGrid moves_grid(const fabric::CollectiveSpec& spec, unsigned limit);

// The addresses of the buffers: this rank's own input, and every rank's input and output.
struct CollectivePlace {
  int rank = 0;
  std::byte* input = nullptr;
  std::vector<std::byte*> inputs, outputs;
};

// These fill in everything except signals, packets and limits.
device::CollectivePackets plan_packets(const fabric::CollectiveSpec& spec, const CollectivePlace& place);
device::CollectiveMoves plan_moves(const fabric::CollectiveSpec& spec, const CollectivePlace& place);

}  // namespace tca::cuda
