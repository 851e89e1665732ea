// An Inbox is the memory into which other ranks write what is meant for this one: signals, rings for staged
// puts, small windows, and what posts need.
//
// Everybody maps it once, at start-up. A window inside it needs no mapping of its own, and the number of
// mappings per process is limited: 16 ranks with a mapping for each part of each window could have only
// 4,000 windows.
//
// It belongs to the waiting side. Each writer has its own lanes, so that two writers never share a cache
// line. Within a lane the signals of many chains are packed: a world of thousands of chains stays small,
// and signals that are stored one after another cross to the reader in one line.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.hpp"
#include "base/counter.hpp"
#include "control/control.hpp"
#include "control/shm/space.hpp"
#include "fabric/shm/exchange.hpp"
#include "fabric/shm/post_board.hpp"

namespace tca::shm {

inline constexpr std::size_t cache_line = 64;

// The step numbers that one rank stores for another, per chain. Step numbers wrap; see `reached`.
struct Signal {
  std::atomic<std::uint32_t> arrive;  // my puts of this step are in place, or ready to be fetched
  std::atomic<std::uint32_t> ready;   // I have read what arrived in the previous step
  std::atomic<std::uint32_t> done;    // I have fetched what you offered in this step
  std::uint32_t unused;
};
static_assert(sizeof(Signal) == 16 && std::atomic<std::uint32_t>::is_always_lock_free);

// The two buffers of staged puts, for even and odd steps, as offsets from the signal in front of them. A
// few bytes share the signal's cache line and cross with it; more begin on their own line.
struct Ring {
  std::uint32_t offset = sizeof(Signal);
  std::uint32_t pitch = 0;

  std::size_t bytes() const { return 2 * std::size_t{pitch}; }

  // Returns the size of the slot formed by the signal and the ring. Below a line it is a power of two, so
  // that no slot straddles two lines.
  std::size_t slot_bytes() const;
};

// Where staged bytes are, and the lengths of counted puts, one word each.
struct Rings {
  Ring data, lengths;

  // The rings for `data_bytes` and `counted` puts a step, each of which may be 0. Lengths share the
  // signal's line if they fit, so that the bytes keep their lines.
  static Rings of(std::size_t data_bytes, std::size_t counted);
};

class Inbox {
 public:
  // Windows of up to this many bytes per rank are small. Larger ones are worth a mapping, and return their
  // memory when they are destroyed.
  static constexpr std::size_t small_window = std::size_t{64} << 10;

  // By rank.
  using Views = std::vector<Mapping>;

  // Collective.
  Inbox(Space& space, control::Control& control, const Reach& reach);

  // Returns a zeroed slot for what `writer` sends, as an offset into this rank's inbox. Throws
  // Error{out_of_memory}.
  std::uint64_t allocate(int writer, std::size_t bytes);
  void release(int writer, const void* slot, std::size_t bytes);

  // Returns zeroed memory for this rank's part of a small window, as an offset; nothing if the room for
  // windows or the system's memory is used up.
  std::optional<std::uint64_t> allocate_window(std::size_t bytes);
  void release_window(std::uint64_t offset, std::size_t bytes);

  // Returns an object that keeps all inboxes mapped.
  std::shared_ptr<const Views> views() const { return views_; }

  // Returns a signal in a rank's inbox that no chain uses.
  Signal& probe(int rank) const { return *reinterpret_cast<Signal*>(at(rank, 0)); }

  // Returns the part of a rank's inbox that is for posts.
  PostBoard& post_board(int rank) const { return *reinterpret_cast<PostBoard*>(at(rank, cache_line)); }

  std::byte* at(int rank, std::uint64_t offset) const {
    return (*views_)[static_cast<std::size_t>(rank)].data() + offset;
  }

 private:
  struct Lane {
    std::uint64_t next = 0, end = 0;
  };
  std::uint64_t take_lines(std::size_t bytes);
  std::uint64_t take_of_lane(int writer, std::size_t bytes);

  int rank_;
  std::shared_ptr<const Views> views_;  // including this rank's own memory
  std::vector<Lane> lanes_;             // by writer
  base::Arena lines_, windows_;
  // Slots in lanes, by writer and size.
  std::multimap<std::pair<int, std::size_t>, std::uint64_t> released_;
};

}  // namespace tca::shm
