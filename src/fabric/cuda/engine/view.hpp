// What the host and the resident engine's kernel share. The glossary is in kernel.cu.
#pragma once

#include <cuda_runtime.h>

#include "tca/device/doorbell.hpp"

namespace tca::cuda {

using device::EngineCommand;
using device::Word;

// A chain that the engine can run.
struct EngineSlot {
  DeviceChain chain;
  Word* done = nullptr;      // pinned: the number of the host's last command that has finished a step of it
  Word* finished = nullptr;  // device memory: how many steps posted by kernels have been finished
  Word lands_on_host = 0;    // whether some of what arrives is for host memory, where the host reads it
};

// Whether the kernel dispatches: in pinned memory, written by its first block.
enum EngineState : Word { ended, leaving, running };

struct EngineView {
  // Who posts, and how many steps each may have under way.
  enum Producer : Word { host, kernels };
  static constexpr Word producers = 2, in_flight = 2;
  static constexpr Word workers_in_group = 2;  // warps

  struct Ring {
    const EngineCommand* commands = nullptr;  // the host's are pinned memory, the kernels' device memory
    Word consumed = 0;                        // the position of the last command consumed before this launch
  };
  // In device memory, zeroed for each launch.
  struct Shared {
    EngineCommand
        relay[EngineCommand::count];  // a ring through which the first block passes commands on to the others
    Word halves_seen;                 // how many halves of the relay the other blocks have seen, in total
    Word finished[producers];         // how many steps have ended, by producer
  };

  Ring rings[producers];
  Shared* shared = nullptr;
  Word* awake = nullptr;     // see DeviceDoorbell
  Word* state = nullptr;     // pinned: an EngineState
  Word* consumed = nullptr;  // pinned, by producer: the last command consumed, once the engine has ended
  const EngineSlot* slots = nullptr;
};

// More blocks than this are of no use.
inline constexpr unsigned most_engine_blocks = 32;

// Loads the kernel, as load_kernels does for the others.
void load_engine();
// Launches the kernel on a stream, with at most `most_engine_blocks` blocks. Throws Error{device_failed}.
void launch_engine(const EngineView& view, unsigned blocks, cudaStream_t stream);

}  // namespace tca::cuda
