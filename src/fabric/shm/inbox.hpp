// The memory that other ranks write into to tell this one something: signals, and rings for staged puts.
//
// It lives with the waiting side. Each writer has lanes of its own, so that two writers never share a cache
// line, and within a lane the signals of many chains are packed: a world of thousands of chains stays small,
// and signals stored in a row cross to the reader in one line.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counter.hpp"
#include "fabric/control.hpp"
#include "fabric/shm/exchange.hpp"
#include "fabric/shm/space.hpp"

namespace tca::shm {

inline constexpr std::size_t cache_line = 64;

// Step numbers that one rank stores for another, per chain. A step number wraps; see `reached`.
struct Signal {
  std::atomic<std::uint32_t> arrive;  // my puts of this step are in place, or ready to be fetched
  std::atomic<std::uint32_t> ready;   // I have read what arrived in the step before this one
  std::atomic<std::uint32_t> done;    // I have fetched what you offered in this step
  std::uint32_t unused;
};
static_assert(sizeof(Signal) == 16 && std::atomic<std::uint32_t>::is_always_lock_free);

// The two buffers that staged puts of odd and even steps alternate between, as offsets from the signal in front of
// them. A few bytes share the signal's cache line and cross with it; more begin on a line of their own.
struct Ring {
  std::uint32_t offset = sizeof(Signal);
  std::uint32_t pitch = 0;

  std::size_t bytes() const { return 2 * std::size_t{pitch}; }

  // Of the slot that the signal and the ring make up: a power of two below a line, so that none straddles two.
  std::size_t slot_bytes() const;
};

// For puts of so many bytes a step, none included.
Ring make_ring(std::size_t buffer_bytes);

class Inbox {
 public:
  // Collective.
  Inbox(Space& space, fabric::Control& control, const Reach& reach);

  // A zeroed slot for what `writer` sends; offset into this rank's inbox. Throws Error{out_of_memory}.
  std::uint64_t allocate(int writer, std::size_t bytes);
  void release(int writer, const Signal* slot, std::size_t bytes);

  // A signal of each rank that no chain uses.
  Signal& probe(int rank) const { return *reinterpret_cast<Signal*>(at(rank, 0)); }

  std::byte* at(int rank, std::uint64_t offset) const {
    return views_[static_cast<std::size_t>(rank)].data() + offset;
  }

 private:
  struct Lane {
    std::uint64_t next = 0, end = 0;
  };
  std::uint64_t take_lines(std::size_t bytes);

  int rank_;
  std::vector<Mapping> views_;      // by rank, this one's own memory among them
  std::vector<Lane> lanes_;         // by writer
  std::uint64_t top_ = cache_line;  // the probe comes first
  std::multimap<std::pair<int, std::size_t>, std::uint64_t> released_;  // by writer and size; -1: whole lines
};

}  // namespace tca::shm
