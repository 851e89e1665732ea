// The kernels that answer what is in a ring of slots in the host's memory.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "trigger/answerer.hpp"
#include "trigger/ring_view.hpp"

namespace tca::trigger {

// What the blocks of a kernel say to each other, in the GPU's memory.
struct Board {
  device::Word end;    // of the slots that are being answered
  device::Word stop;   // 1: nothing more will come
  device::Word ended;  // up to where all blocks have answered
  device::Word count;  // of blocks that have
};

// How many blocks a kernel may have so that all of them run at the same time, none of which more than `most`.
// Throws Error{device_failed} where the GPU has no room for one.
int room_for_blocks(int most);

// Each block answers an event at a time.
//
// Answers the slots from `first` to `end`, and then says so in the ring's signals.
void launch_answers(const RingView& ring, std::uint64_t first, std::uint64_t end, float resolution,
                    int blocks, Board* board, cudaStream_t stream);

// Answers whatever is in the ring, until the ring's signals say stop. All of its blocks run at the same time.
void launch_watch(const RingView& ring, const Gather& gather, float resolution, int blocks, Board* board,
                  cudaStream_t stream);

}  // namespace tca::trigger
