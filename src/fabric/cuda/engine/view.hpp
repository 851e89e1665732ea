// What the host and the resident engine's kernel share. The glossary is in kernel.cu.
#pragma once

#include <cuda_runtime.h>

#include "tca/device_bell.hpp"

namespace tca::cuda {

using device::Bell;
using device::Word;

// A chain that the engine can run.
struct EngineSlot {
  DeviceChain chain;
  Word* done = nullptr;      // pinned: the number of the host's last command that has finished a step of it
  Word* finished = nullptr;  // device memory: how many steps have been finished that kernels rang
};

// Whether the kernel listens: in pinned memory, written by its first block.
enum EngineState : Word { ended, leaving, running };

struct EngineView {
  // Who rings, and how many steps each may have under way.
  enum Ringer : Word { host, kernels };
  static constexpr Word ringers = 2, in_flight = 2;
  static constexpr Word crew_size = 2;  // warps

  struct Ring {
    const Bell* bells = nullptr;  // the host's are pinned memory, the kernels' device memory
    Word obeyed = 0;              // the position of the last command obeyed before this launch
  };
  // In device memory, zeroed for each launch.
  struct Shared {
    Bell relay[Bell::count];  // a ring through which the first block passes commands on to the others
    Word halves_heard;        // how many halves of the relay the other blocks have heard, all added up
    Word finished[ringers];   // how many steps have ended, by who rang
  };

  Ring rings[ringers];
  Shared* shared = nullptr;
  Word* awake = nullptr;   // see DeviceBell
  Word* state = nullptr;   // pinned: an EngineState
  Word* obeyed = nullptr;  // pinned, by ringer: the last command obeyed, once the engine has ended
  const EngineSlot* slots = nullptr;
};

// More blocks than these are of no use.
inline constexpr unsigned most_engine_blocks = 32;

// Loads the kernel, as load_kernels does the others.
void load_engine();
// Puts the kernel on a stream, with at most `most_engine_blocks` blocks. Throws Error{device_failed}.
void launch_engine(const EngineView& view, unsigned blocks, cudaStream_t stream);

}  // namespace tca::cuda
