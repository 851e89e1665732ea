// What the host and the resident engine's kernel share.
#pragma once

#include <cuda_runtime.h>

#include "tca/device_bell.hpp"

namespace tca::cuda {

using device::Bell;
using device::Word;

// A chain that the engine can run.
struct EngineSlot {
  DeviceChain chain;
  Word* done = nullptr;      // pinned: the number of the host's last command for it that has been finished
  Word* finished = nullptr;  // device memory: how many of kernels' have been
};

// Whether the kernel listens; pinned memory, kept by its first block.
enum EngineState : Word { ended, leaving, running };

struct EngineView {
  // Who rings, and what each may have under way at a time.
  enum Ringer : Word { host, kernels };
  static constexpr Word ringers = 2, in_flight = 2;
  static constexpr Word crew_size = 2;  // warps of a block that carry a chain

  struct Ring {
    const Bell* bells = nullptr;  // the host's are pinned, the kernels' device memory
    Word obeyed = 0;              // before this launch
  };
  // Device memory, zeroed for each launch.
  struct Shared {
    Bell relay[Bell::count];  // through it the first block rings the others
    Word halves;              // of it that they have heard, all others together
    Word finished[ringers];   // commands
  };

  Ring rings[ringers];
  Shared* shared = nullptr;
  Word* awake = nullptr;   // see DeviceBell
  Word* state = nullptr;   // pinned
  Word* obeyed = nullptr;  // pinned, one a ringer: its last command, once the engine has ended
  const EngineSlot* slots = nullptr;
};

// At most as many blocks as `most_engine_blocks`; more are of no use.
inline constexpr unsigned most_engine_blocks = 32;
void load_engine();
void launch_engine(const EngineView& view, unsigned blocks, cudaStream_t stream);

}  // namespace tca::cuda
