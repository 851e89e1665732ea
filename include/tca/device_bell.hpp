// A DeviceBell lets a kernel have the resident engine run a chain (tca/engine.cuh). It is plain numbers and
// device pointers, and is passed to kernels by value.
#pragma once

#include "tca/device_chain.hpp"

namespace tca {

namespace device {

// A command to the resident engine: its position in the engine's ring, what is to be done, and a number by
// which the engine says that it is done.
struct Bell {
  static constexpr Word count = 256;  // in a ring; more than there can be commands that have not been obeyed
  // Stands in place of a chain: the engine ends at once, whatever is under way.
  static constexpr Word quit = 0xffff;
  // A chain is named by the slot that describes it, and by a count, modulo 16, of the chains that have had
  // this slot. The count keeps a reader that has prepared an earlier chain from taking this one for it.
  static constexpr Word chain_mask = 0xfff, slot_mask = 0xff, slot_bits = 8;
  // Flags beside a chain: other kernels have run it too; a kernel rang; the host's second crew is to run it.
  static constexpr Word others_ran_it = 1u << 14, by_kernel = 1u << 13, second_crew = 1u << 12;

  std::uint64_t command = 0;

  static TCA_DEVICE std::uint64_t make(Word position, Word what, Word number) {
    return std::uint64_t{number} << 32 | (position & 0xffff) << 16 | what;
  }
  static TCA_DEVICE Word number_of(std::uint64_t command) { return static_cast<Word>(command >> 32); }
  static TCA_DEVICE Word what_of(std::uint64_t command) { return static_cast<Word>(command) & 0xffff; }
  // Returns whether it is the command at `position`, counted from 1.
  static TCA_DEVICE bool is_at(std::uint64_t command, Word position) {
    return (static_cast<Word>(command) >> 16) == (position & 0xffff);
  }
};

}  // namespace device

struct DeviceBell {
  device::Bell* ring = nullptr;         // in this GPU's memory, like the next three
  device::Word* rung = nullptr;         // positions taken
  const device::Word* awake = nullptr;  // 0: the engine is not there, or about to leave
  const device::Word* finished =
      nullptr;                   // steps of this chain that kernels rang and the engine has finished
  device::Word* call = nullptr;  // pinned: not 0 to have the host bring the engine back
  device::Word chain = 0;
  device::Patience patience;
};

}  // namespace tca
