#include "fabric/shm/inbox.hpp"

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"

namespace tca::shm {

namespace {

// Address space, not memory: pages come on first use.
constexpr std::size_t inbox_bytes = std::size_t{1} << 30;
constexpr std::size_t lane_bytes = 4 * cache_line;
constexpr int any_writer = -1;

std::size_t round_up(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

Ring make_ring(std::size_t buffer_bytes) {
  const bool shares_line = 2 * round_up(buffer_bytes, 8) <= cache_line - sizeof(Signal);
  // What does not fit 32 bits does not fit an inbox either; `allocate` says so.
  const std::size_t pitch =
      std::min<std::size_t>(round_up(buffer_bytes, shares_line ? 8 : cache_line), UINT32_MAX);
  return {static_cast<std::uint32_t>(shares_line ? sizeof(Signal) : cache_line),
          static_cast<std::uint32_t>(pitch)};
}

std::size_t Ring::slot_bytes() const {
  const std::size_t all = offset + bytes();
  return all <= 16 ? 16 : all <= 32 ? 32 : round_up(all, cache_line);
}

Inbox::Inbox(Space& space, fabric::Control& control, const Reach& reach)
    : rank_(control.rank()),
      views_(allocate_all(space, control, inbox_bytes, Backing::sparse, reach, "start-up (inboxes)")),
      lanes_(static_cast<std::size_t>(control.size())) {}

std::uint64_t Inbox::take_lines(std::size_t bytes) {
  if (bytes > inbox_bytes - top_) {
    base::fail(
        Errc::out_of_memory,
        "the chains of this rank already stage {} bytes; {} more exceed the {} there are. Let large puts go "
        "direct (ChainOptions::route = \"direct\") or destroy chains that are no longer used",
        top_, bytes, inbox_bytes);
  }
  const std::uint64_t offset = top_;
  top_ += bytes;
  return offset;
}

std::uint64_t Inbox::allocate(int writer, std::size_t bytes) {
  const bool packed = bytes < cache_line;
  const auto key = std::pair(packed ? writer : any_writer, bytes);
  std::uint64_t offset;
  if (const auto found = released_.find(key); found != released_.end()) {
    offset = found->second;
    released_.erase(found);
  } else if (!packed) {
    offset = take_lines(bytes);
  } else {
    Lane& lane = lanes_[static_cast<std::size_t>(writer)];
    lane.next = round_up(lane.next, bytes);
    if (lane.next + bytes > lane.end) {
      lane.next = take_lines(lane_bytes);
      lane.end = lane.next + lane_bytes;
    }
    offset = lane.next;
    lane.next += bytes;
  }
  std::memset(at(rank_, offset), 0, bytes);
  return offset;
}

void Inbox::release(int writer, const Signal* slot, std::size_t bytes) {
  const auto offset = static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(slot) - at(rank_, 0));
  released_.emplace(std::pair(bytes < cache_line ? writer : any_writer, bytes), offset);
}

}  // namespace tca::shm
