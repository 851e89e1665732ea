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
  // Instead of a slot: end at once, whatever is under way.
  static constexpr Word quit = ~Word{0};
  // With a slot: it holds another chain than before; or its chain has been run by other kernels too.
  static constexpr Word is_new = Word{1} << 31, others_ran_it = Word{1} << 30;
  std::uint64_t command;  // its number, which is what its slot's done word gets, above the slot
  static TCA_DEVICE std::uint64_t make(Word number, Word what) { return std::uint64_t{number} << 32 | what; }
};

// Whether the kernel listens; pinned memory, kept by its first block.
enum EngineState : Word { ended, leaving, running };

struct EngineView {
  static constexpr Word max_in_flight = 3;  // chains that a block keeps prepared

  const Bell* bells = nullptr;
  Bell* relay = nullptr;  // device memory, zeroed: through it the first block rings the others
  Word* state = nullptr;
  Word* obeyed = nullptr;  // pinned: the last command, once it has ended
  const EngineSlot* slots = nullptr;
  Word seen = 0;  // commands before this launch
};

void launch_engine(const EngineView& view, unsigned blocks, cudaStream_t stream);

}  // namespace tca::cuda
