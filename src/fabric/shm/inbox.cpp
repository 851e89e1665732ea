#include "fabric/shm/inbox.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/fail.hpp"

namespace tca::shm {

namespace {

// This much address space costs no memory: pages are allocated on first use. Windows are separate from
// signals and rings, so that a program that writes past the end of one does not at once hit the signals of
// its chains.
constexpr std::size_t inbox_bytes = std::size_t{1} << 30, window_bytes = std::size_t{512} << 20;
constexpr std::size_t lane_bytes = 4 * cache_line;

// The first line is the probe, and the board for posts follows.
std::size_t front_bytes(int ranks) { return cache_line + PostBoard::bytes(static_cast<std::size_t>(ranks)); }

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

Rings Rings::of(std::size_t data_bytes, std::size_t counted) {
  constexpr std::size_t room = cache_line - sizeof(Signal);
  // A pitch that does not fit 32 bits does not fit an inbox either, so `allocate` throws.
  const auto ring = [](std::size_t offset, std::size_t pitch) {
    return Ring{static_cast<std::uint32_t>(offset),
                static_cast<std::uint32_t>(std::min<std::size_t>(pitch, UINT32_MAX))};
  };
  const std::size_t data = round_up(data_bytes, 8), lengths = counted * sizeof(std::uint64_t);
  if (2 * (lengths + data) <= room)
    return {ring(sizeof(Signal) + 2 * lengths, data), ring(sizeof(Signal), lengths)};
  if (2 * lengths <= room)
    return {ring(cache_line, round_up(data, cache_line)), ring(sizeof(Signal), lengths)};
  const std::size_t both = round_up(data + lengths, cache_line);
  return {ring(cache_line, both), ring(cache_line + data, both)};
}

std::size_t Ring::slot_bytes() const {
  const std::size_t all = offset + bytes();
  return all <= 16 ? 16 : all <= 32 ? 32 : round_up(all, cache_line);
}

Inbox::Inbox(Space& space, control::Control& control, const Reach& reach)
    : rank_(control.rank()),
      views_(
          std::make_shared<Views>(allocate_all(space, control::Members(control), inbox_bytes + window_bytes,
                                               Backing::sparse, reach, "start-up (inboxes)"))),
      lanes_(static_cast<std::size_t>(control.size())),
      lines_(front_bytes(control.size()), inbox_bytes - front_bytes(control.size())),
      windows_(inbox_bytes, window_bytes) {}

std::uint64_t Inbox::take_lines(std::size_t bytes) {
  if (const auto offset = lines_.take(bytes)) return *offset;
  base::fail(
      Errc::out_of_memory,
      "the chains of this rank already stage {} of {} bytes, and no {} more lie together (at most {}). "
      "Let large puts go direct (option channel, \"direct\") or destroy chains that are no longer "
      "used",
      lines_.taken(), inbox_bytes, bytes, lines_.largest());
}

std::uint64_t Inbox::allocate(int writer, std::size_t bytes) {
  const std::uint64_t offset = bytes < cache_line ? take_of_lane(writer, bytes) : take_lines(bytes);
  std::memset(at(rank_, offset), 0, bytes);
  return offset;
}

std::optional<std::uint64_t> Inbox::allocate_window(std::size_t bytes) {
  const std::size_t lines = round_up(bytes, cache_line);
  const std::optional<std::uint64_t> offset = windows_.take(lines);
  if (!offset || make_pages(at(rank_, *offset), lines) == 0) return offset;
  windows_.give_back(*offset, lines);
  return std::nullopt;
}

void Inbox::release_window(std::uint64_t offset, std::size_t bytes) {
  const std::size_t lines = round_up(bytes, cache_line);
  drop_pages(at(rank_, offset), lines);
  windows_.give_back(offset, lines);
}

std::uint64_t Inbox::take_of_lane(int writer, std::size_t bytes) {
  if (const auto found = released_.find({writer, bytes}); found != released_.end())
    return released_.extract(found).mapped();
  Lane& lane = lanes_[static_cast<std::size_t>(writer)];
  lane.next = round_up(lane.next, bytes);
  if (lane.next + bytes > lane.end) {
    lane.next = take_lines(lane_bytes);
    lane.end = lane.next + lane_bytes;
  }
  return std::exchange(lane.next, lane.next + bytes);
}

void Inbox::release(int writer, const void* slot, std::size_t bytes) {
  const auto offset = static_cast<std::uint64_t>(static_cast<const std::byte*>(slot) - at(rank_, 0));
  if (bytes < cache_line)
    released_.emplace(std::pair(writer, bytes), offset);
  else
    lines_.give_back(offset, bytes);
}

}  // namespace tca::shm
