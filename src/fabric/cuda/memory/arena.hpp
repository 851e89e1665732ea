// Hands out pieces of memory by their offsets. Arenas manage the device memory into which other ranks write
// signals and packets, and the pinned host memory through which kernels talk to the host.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace tca::cuda {

// Takes the first free piece that is large enough. Pieces begin at multiples of 128 bytes, which are the data
// of an NVLink packet and a line of the L2.
class Arena {
 public:
  explicit Arena(std::size_t bytes) { free_[0] = bytes; }

  // Returns the offset of a piece, or nothing when there is no room.
  std::optional<std::uint64_t> take(std::size_t bytes);
  void give_back(std::uint64_t offset, std::size_t bytes);

  std::size_t largest() const;

 private:
  static constexpr std::size_t grain = 128;
  static std::size_t rounded(std::size_t bytes) { return (bytes + grain - 1) / grain * grain; }

  std::map<std::uint64_t, std::size_t> free_;  // bytes by offset
};

}  // namespace tca::cuda
