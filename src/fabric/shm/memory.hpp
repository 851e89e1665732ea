// A window's memory: every rank's part, mapped here.
#pragma once

#include <utility>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/shm/space.hpp"

namespace tca::shm {

class ShmMemory final : public fabric::Memory {
 public:
  ShmMemory(std::vector<Mapping> views, int rank) : views_(std::move(views)), rank_(rank) {}

  // What to map for a window of `bytes`.
  static std::size_t mapped(std::size_t bytes) { return bytes == 0 ? 0 : bytes + lead; }

  std::byte* data() override { return at(rank_); }
  std::size_t bytes(int rank) const override {
    return view(rank).bytes() == 0 ? 0 : view(rank).bytes() - lead;
  }
  std::byte* at(int rank) const { return view(rank).bytes() == 0 ? nullptr : view(rank).data() + lead; }

 private:
  // A window begins a few lines into its first page. With a power of two for a pitch, rows that begin at page
  // boundaries fall into the same few sets of the caches as everything else that does: it cost the block-stride and
  // strided faces of 128^3 doubles a fifth.
  static constexpr std::size_t lead = 256;

  const Mapping& view(int rank) const { return views_[static_cast<std::size_t>(rank)]; }

  std::vector<Mapping> views_;  // by rank
  int rank_;
};

inline std::byte* address(fabric::Memory* memory, int rank, std::uint64_t offset) {
  return static_cast<ShmMemory*>(memory)->at(rank) + offset;
}

}  // namespace tca::shm
