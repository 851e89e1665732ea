// Where blocks of the symmetric heap lie. Every PE makes the same calls in the same order and so comes to the same places,
// without a word to the others.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace tca::nvshmem {

class Heap {
 public:
  static constexpr std::size_t granule = 512;  // what blocks begin at, and are multiples of

  explicit Heap(std::size_t bytes) : bytes_(bytes), free_{{0, bytes}} {}

  std::size_t bytes() const { return bytes_; }
  std::size_t largest_free() const;
  // Returns the offset of a block at a multiple of `alignment`, a power of two; nothing where no free piece has room.
  std::optional<std::size_t> take(std::size_t bytes, std::size_t alignment = granule);
  // False where no block begins there.
  bool give_back(std::size_t offset);

 private:
  std::size_t bytes_;
  std::map<std::size_t, std::size_t> free_, taken_;  // sizes by offset; free neighbours are one
};

}  // namespace tca::nvshmem
