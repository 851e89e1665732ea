/// @file
/// A DeviceDoorbell lets a kernel have the resident engine run a chain (tca/engine.cuh). It is plain numbers
/// and device pointers, and is passed to kernels by value.
#pragma once

#include "tca/device/chain.hpp"

namespace tca {

namespace device {

// A command to the resident engine, an element of a ring of them. From the lowest bit on it holds what to do
// (16 bits), the command's position in the ring, counted from 1 (16 bits), and the number that the chain's
// done word gets (32 bits).
struct EngineCommand {
  // The length of a ring, more than the commands that may be waiting to be consumed.
  static constexpr Word count = 256;
  // What to do, first: to end at once, whatever is under way.
  static constexpr Word quit = 0xffff;
  // Or to run a chain. Its handle is the slot that describes it, and a 4-bit generation of the slot, so that
  // a worker group that has prepared an earlier chain of that slot recognises it as stale.
  static constexpr Word chain_mask = 0xfff, slot_mask = 0xff, slot_bits = 8;
  // Flags beside the handle: other kernels have run the chain too; a kernel posted it; the host's second
  // worker group is to run it.
  static constexpr Word others_ran_it = 1u << 14, by_kernel = 1u << 13, second_group = 1u << 12;

  std::uint64_t command = 0;

  static TCA_DEVICE std::uint64_t make(Word position, Word what, Word number) {
    return std::uint64_t{number} << 32 | (position & 0xffff) << 16 | what;
  }
  static TCA_DEVICE Word number_of(std::uint64_t command) { return static_cast<Word>(command >> 32); }
  static TCA_DEVICE Word what_of(std::uint64_t command) { return static_cast<Word>(command) & 0xffff; }
  // Whether the command is the one at `position`; an older one is there until it has been posted.
  static TCA_DEVICE bool is_at(std::uint64_t command, Word position) {
    return (static_cast<Word>(command) >> 16) == (position & 0xffff);
  }
};

}  // namespace device

struct DeviceDoorbell {
  /// These are in this GPU's memory.
  device::EngineCommand* ring = nullptr;
  device::Word* tail = nullptr;            ///< the last position that a kernel has taken
  const device::Word* awake = nullptr;     ///< 0: the engine is not there, or about to leave
  const device::Word* finished = nullptr;  ///< how many steps the engine has finished for kernels
  /// This is in pinned host memory: a kernel stores 1 to have the host bring the engine back.
  device::Word* call = nullptr;
  device::Word chain = 0;  ///< its handle
  device::WaitLimits limits;
};

}  // namespace tca
