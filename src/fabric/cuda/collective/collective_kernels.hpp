// The kernels that run a collective.
#pragma once

#include <optional>

#include "fabric/collective.hpp"
#include "fabric/cuda/kernels.hpp"
#include "tca/device/collective_moves.hpp"
#include "tca/device/collective_packets.hpp"
#include "tca/device/fold.hpp"

namespace tca::cuda {

// The part of a step that a kernel does. `start` waits for nobody except a broadcast's readers, `wait` does
// the rest, and `run` does both.
enum class Phase : std::uint8_t { start, wait, run };

using MaybeReduction = std::optional<fabric::Reduction>;

void launch_packets(const device::CollectivePackets& packets, MaybeReduction reduction, Phase phase,
                    Grid grid, Done done, cudaStream_t stream);
void launch_moves(const device::CollectiveMoves& moves, MaybeReduction reduction, Phase phase, Grid grid,
                  Done done, cudaStream_t stream);

// A FoldTask as a kernel sees it.
struct FoldView {
  std::byte* into = nullptr;
  std::uint64_t bytes = 0;
  device::Table<const std::byte*> operands;
  bool aligned = false;  // whether all addresses and `bytes` are multiples of 16 bytes
};
void launch_fold(const FoldView& fold, fabric::Reduction reduction, Grid grid, cudaStream_t stream);
void launch_cell_fold(const DeviceFold& fold, fabric::Reduction reduction, Grid grid, cudaStream_t stream);

// See load_kernels.
void load_collective_kernels();

}  // namespace tca::cuda
