// What the host and the resident engine's kernel share.
#pragma once

#include <cuda_runtime.h>

#include "tca/device_chain.hpp"

namespace tca::cuda {

using device::Word;

// A chain that the engine can run, and the host's word for its last finished step.
struct EngineSlot {
  DeviceChain chain;
  Word* done = nullptr;  // pinned
};

// What the host rings, one after the other in a ring; pinned memory.
struct Bell {
  static constexpr Word count = 64;
  // Instead of a slot: end, once all is finished or at once. With a slot: the chain has been run by other kernels too.
  static constexpr Word quit = ~Word{0}, drop = quit - 1, others_ran_it = Word{1} << 30;
  std::uint64_t command;  // its number, which is what its slot's done word gets, above the slot
  static constexpr std::uint64_t make(Word number, Word slot) { return std::uint64_t{number} << 32 | slot; }
};

struct EngineView {
  const Bell* bells = nullptr;
  const EngineSlot* slots = nullptr;
  Word seen = 0;  // commands before this launch
};

void launch_engine(const EngineView& view, unsigned blocks, cudaStream_t stream);

}  // namespace tca::cuda
