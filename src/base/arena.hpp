// Hands out pieces of memory by their offsets, for memory into which other ranks write: it is shared once
// and then divided, because sharing each piece would take a mapping and a meeting of the ranks every time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tca::base {

// A piece that is returned is merged with free neighbours, so that pieces of other sizes find room.
class Arena {
 public:
  // Hands out the `bytes` from offset `begin` on. Pieces are multiples of `grain` bytes, so they begin at
  // multiples of it if `begin` is one.
  Arena(std::uint64_t begin, std::size_t bytes, std::size_t grain = 1) : grain_(grain) { add(begin, bytes); }

  // Takes the beginning of the smallest free place that is large enough, the first if there are several;
  // returns its offset, or nothing if there is none.
  std::optional<std::uint64_t> take(std::size_t bytes);
  // `bytes` is the size that was requested.
  void give_back(std::uint64_t offset, std::size_t bytes);

  std::size_t taken() const { return taken_; }
  std::size_t largest() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }

 private:
  using ByOffset = std::map<std::uint64_t, std::size_t>;
  std::size_t rounded(std::size_t bytes) const { return (bytes + grain_ - 1) / grain_ * grain_; }
  void add(std::uint64_t offset, std::size_t bytes);
  ByOffset::iterator remove(ByOffset::iterator place);

  std::size_t grain_;
  // The free places; neighbours are merged into one.
  ByOffset by_offset_;
  std::set<std::pair<std::size_t, std::uint64_t>> by_size_;
  std::size_t taken_ = 0;
};

}  // namespace tca::base
