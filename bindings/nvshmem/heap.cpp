#include "nvshmem/heap.hpp"

#include <algorithm>
#include <iterator>

namespace tca::nvshmem {

std::size_t Heap::largest_free() const {
  std::size_t largest = 0;
  for (const auto& [offset, size] : free_) largest = std::max(largest, size);
  return largest;
}

std::optional<std::size_t> Heap::take(std::size_t bytes, std::size_t alignment) {
  if (bytes > bytes_) return std::nullopt;
  const std::size_t size = std::max<std::size_t>(1, (bytes + granule - 1) / granule) * granule;
  alignment = std::max(alignment, granule);
  for (const auto& [begin, room] : free_) {
    const std::size_t offset = (begin + alignment - 1) / alignment * alignment, skipped = offset - begin;
    if (skipped > room || room - skipped < size) continue;
    const std::size_t rest = room - skipped - size, first = begin;
    free_.erase(first);
    if (skipped > 0) free_.emplace(first, skipped);
    if (rest > 0) free_.emplace(offset + size, rest);
    taken_.emplace(offset, size);
    return offset;
  }
  return std::nullopt;
}

bool Heap::give_back(std::size_t offset) {
  const auto block = taken_.find(offset);
  if (block == taken_.end()) return false;
  auto piece = free_.emplace(offset, block->second).first;
  taken_.erase(block);
  if (const auto next = std::next(piece);
      next != free_.end() && piece->first + piece->second == next->first) {
    piece->second += next->second;
    free_.erase(next);
  }
  if (piece != free_.begin()) {
    const auto before = std::prev(piece);
    if (before->first + before->second == piece->first) {
      before->second += piece->second;
      free_.erase(piece);
    }
  }
  return true;
}

}  // namespace tca::nvshmem
