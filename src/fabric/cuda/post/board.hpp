// What ranks on GPUs know of each other for posts: words in each rank's device memory, which kernels poll and keep, and
// a board in its pinned host memory, for hosts. docs/protocols.md says who writes what.
//
// Nothing here needs a GPU.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "tca/device/posts.hpp"

namespace tca::cuda {

using device::Word;

// How many regions of a rank may live at once, and how many of its posts may store into memory that programs have.
inline constexpr std::uint32_t most_regions = 1024, most_guarded = 32;

inline constexpr std::size_t lanes_of_source = std::size_t{notice_slots} * notice_tags;

// The first of the lanes of a slot.
inline std::size_t first_lane(int slot) { return static_cast<std::size_t>(slot) * notice_tags; }

// A slot of a source at the owner's host.
struct alignas(64) HostSlot {
  std::array<std::uint64_t, notice_tags> lanes;    // by the source's kernels
  std::array<Word, notice_tags> taken_by_streams;  // by the owner's kernels
  std::array<Word, notice_tags> taken_by_host;     // by the owner's host

  // Takes a notice of the first lane that has one with a wanted tag.
  template <class Wanted>
  std::optional<std::uint32_t> take(const Wanted& wanted) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      // Acquire: pairs with the fence in front of PostLanes::raise.
      const std::uint64_t lane = device::load_acquire(&lanes[i]);
      const Word taken = taken_by_host[i];
      const Word all_taken = taken + device::load_relaxed(&taken_by_streams[i]);
      if (!device::has_notices(lane, all_taken) || !wanted(device::tag_of_lane(lane))) continue;
      // Relaxed: a source that sees that all are taken stores nothing but another word into the lane.
      device::store_relaxed(&taken_by_host[i], taken + 1);
      return device::tag_of_lane(lane);
    }
    return std::nullopt;
  }
};

// A place for a region. `what` is set before `live`.
struct alignas(64) RegionPlace {
  std::atomic<std::uint64_t> live;   // the generation of the region that lives here; 0 where there is none
  std::atomic<std::uint64_t> ended;  // the generation of the last one that has ended here
  std::array<std::byte, 112> what;   // how to map it
};

// Lies in zeroed memory. Followed by the turns of each rank, and then by its slots. Ranks count within a sub-cluster.
struct alignas(64) HostBoard {
  std::array<RegionPlace, most_regions> places;

  using Turns = std::array<Word, most_guarded>;
  using Slots = std::array<HostSlot, notice_slots>;

  Turns& turns(int source) { return reinterpret_cast<Turns*>(this + 1)[source]; }
  HostSlot& slot(int source, int slot, int ranks) {
    return reinterpret_cast<Slots*>(&turns(ranks))[source][static_cast<std::size_t>(slot)];
  }
  static constexpr std::size_t bytes(std::size_t ranks) {
    return sizeof(HostBoard) + ranks * (sizeof(Turns) + sizeof(Slots));
  }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(HostBoard::Turns) % 64 == 0);

// Where the words in device memory lie; each table has a row for each rank of the sub-cluster.
struct DeviceBoard {
  explicit DeviceBoard(std::size_t ranks) : ranks_(ranks) {}

  // By source: what it has raised here (by the source), and what streams have taken of it (by this rank).
  std::size_t lanes(int source, int slot) const {
    return (row(source) + first_lane(slot)) * sizeof(std::uint64_t);
  }
  std::size_t taken(int source, int slot) const {
    return taken_begin() + (row(source) + first_lane(slot)) * sizeof(Word);
  }
  // By target: what this rank has raised there.
  std::size_t raised(int target, int slot) const {
    return raised_begin() + (row(target) + first_lane(slot)) * sizeof(device::RaisedLane);
  }
  // By owner: the generations of the last regions that have ended there (by the owner).
  std::size_t ended(int owner, std::uint32_t place) const {
    return ended_begin() + (static_cast<std::size_t>(owner) * most_regions + place) * sizeof(std::uint64_t);
  }
  std::size_t lock() const { return ended_begin() + ranks_ * most_regions * sizeof(std::uint64_t); }
  std::size_t bytes() const { return lock() + sizeof(Word); }

 private:
  static std::size_t row(int rank) { return static_cast<std::size_t>(rank) * lanes_of_source; }
  std::size_t taken_begin() const { return ranks_ * lanes_of_source * sizeof(std::uint64_t); }
  std::size_t raised_begin() const { return taken_begin() + ranks_ * lanes_of_source * sizeof(Word); }
  std::size_t ended_begin() const {
    return raised_begin() + ranks_ * lanes_of_source * sizeof(device::RaisedLane);
  }

  std::size_t ranks_;
};

}  // namespace tca::cuda
