#include "base/arena.hpp"

#include <iterator>

namespace tca::base {

std::optional<std::uint64_t> Arena::take(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes);
  const auto found = by_size_.lower_bound({wanted, 0});
  if (found == by_size_.end()) return std::nullopt;
  const auto [room, offset] = *found;
  remove(by_offset_.find(offset));
  if (room > wanted) add(offset + wanted, room - wanted);
  taken_ += wanted;
  return offset;
}

void Arena::give_back(std::uint64_t offset, std::size_t bytes) {
  std::size_t room = rounded(bytes);
  if (room == 0) return;
  taken_ -= room;
  auto next = by_offset_.lower_bound(offset);
  if (next != by_offset_.end() && next->first == offset + room) {
    room += next->second;
    next = remove(next);
  }
  if (next != by_offset_.begin()) {
    if (const auto before = std::prev(next); before->first + before->second == offset) {
      offset = before->first;
      room += before->second;
      remove(before);
    }
  }
  add(offset, room);
}

void Arena::add(std::uint64_t offset, std::size_t bytes) {
  by_offset_.emplace(offset, bytes);
  by_size_.emplace(bytes, offset);
}

Arena::ByOffset::iterator Arena::remove(ByOffset::iterator place) {
  by_size_.erase({place->second, place->first});
  return by_offset_.erase(place);
}

}  // namespace tca::base
