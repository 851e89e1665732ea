// What ranks on GPUs know about each other for posts: words in each rank's device memory, which kernels
// poll and update, and a board in pinned host memory, for hosts. docs/protocols.md says who writes what.
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

// How many regions of a rank may be live at once, and how many of its posts may store into memory that
// belongs to programs.
inline constexpr std::uint32_t most_regions = 1024, most_guarded = 32;

inline constexpr std::size_t lanes_of_source = std::size_t{notice_slots} * notice_tags;

// The first lane of a slot.
inline std::size_t first_lane(int slot) { return static_cast<std::size_t>(slot) * notice_tags; }

// What streams have taken from a source's slot, as the owner's host knows it. They count in their GPU's
// memory, where the host looks only when it matters.
struct TakenByStreams {
  std::array<Word, notice_tags> counts{};
  bool may_be_more = false;
  bool is_captured = false;  // a graph may wait at any time
};

// A slot of a source at the owner's host.
struct alignas(64) HostSlot {
  std::array<std::uint64_t, notice_tags> lanes;  // by the source's kernels
  std::array<Word, notice_tags> taken_by_host;   // by the owner's host

  // Takes a notice from the first lane that has one with a wanted tag. `look` brings what streams have
  // taken up to date.
  template <class Wanted, class Look>
  std::optional<std::uint32_t> take(const Wanted& wanted, TakenByStreams& by_streams, const Look& look) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      // Acquire: pairs with the fence before PostLanes::raise.
      const std::uint64_t lane = device::load_acquire(&lanes[i]);
      const auto has_notices = [&] {
        return device::has_notices(lane, taken_by_host[i] + by_streams.counts[i]);
      };
      if (!has_notices() || !wanted(device::tag_of_lane(lane))) continue;
      if (by_streams.may_be_more) {
        look();
        by_streams.may_be_more = by_streams.is_captured;
        if (!has_notices()) continue;
      }
      // Relaxed: a source that sees that all are taken only stores another word into the lane.
      device::store_relaxed(&taken_by_host[i], taken_by_host[i] + 1);
      return device::tag_of_lane(lane);
    }
    return std::nullopt;
  }
};

// A place for a region. `what` is set before `live`.
struct alignas(64) RegionPlace {
  std::atomic<std::uint64_t> live;   // the generation of the region that lives here; 0 if there is none
  std::atomic<std::uint64_t> ended;  // the generation of the last one that has ended here
  std::array<std::byte, 112> what;   // how to map it
};

// Lives in zeroed memory. Followed by the turns of each rank, and then by its slots. Ranks are numbered
// within a sub-cluster.
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

// Where the words in device memory are; each table has a row for each rank of the sub-cluster.
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
    return raised_begin() + (slots(target) + static_cast<std::size_t>(slot)) * sizeof(device::RaisedSlot);
  }
  // By owner: the generations of the last regions that have ended there (by the owner).
  std::size_t ended(int owner, std::uint32_t place) const {
    return ended_begin() + (static_cast<std::size_t>(owner) * most_regions + place) * sizeof(std::uint64_t);
  }
  std::size_t bytes() const { return ended_begin() + ranks_ * most_regions * sizeof(std::uint64_t); }

 private:
  static std::size_t slots(int ranks) { return static_cast<std::size_t>(ranks) * notice_slots; }
  static std::size_t row(int rank) { return static_cast<std::size_t>(rank) * lanes_of_source; }
  std::size_t taken_begin() const { return ranks_ * lanes_of_source * sizeof(std::uint64_t); }
  std::size_t raised_begin() const { return taken_begin() + ranks_ * lanes_of_source * sizeof(Word); }
  std::size_t ended_begin() const {
    return raised_begin() + ranks_ * notice_slots * sizeof(device::RaisedSlot);
  }

  std::size_t ranks_;
};

}  // namespace tca::cuda
