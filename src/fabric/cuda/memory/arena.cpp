#include "fabric/cuda/memory/arena.hpp"

#include <algorithm>

namespace tca::cuda {

std::optional<std::uint64_t> Arena::take(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes);
  for (const auto& [offset, room] : free_) {
    if (room < wanted) continue;
    const std::uint64_t taken = offset;
    const std::size_t left = room - wanted;
    free_.erase(taken);
    if (left > 0) free_[taken + wanted] = left;
    return taken;
  }
  return std::nullopt;
}

void Arena::give_back(std::uint64_t offset, std::size_t bytes) {
  if (rounded(bytes) == 0) return;
  auto [here, inserted] = free_.emplace(offset, rounded(bytes));
  if (const auto next = std::next(here); next != free_.end() && here->first + here->second == next->first) {
    here->second += next->second;
    free_.erase(next);
  }
  if (here == free_.begin()) return;
  if (const auto before = std::prev(here); before->first + before->second == here->first) {
    before->second += here->second;
    free_.erase(here);
  }
}

std::size_t Arena::largest() const {
  std::size_t most = 0;
  for (const auto& [offset, room] : free_) most = std::max(most, room);
  return most;
}

}  // namespace tca::cuda
