// The memory of a window on shm: every rank's part, mapped into this process.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "fabric/fabric.hpp"
#include "fabric/shm/space.hpp"

namespace tca::shm {

class ShmMemory final : public fabric::Memory {
 public:
  // `registered[r]`: the view of rank r is memory that its caller already had, and all of it is the window.
  ShmMemory(std::vector<Mapping> views, const std::vector<bool>& registered, int rank)
      : views_(std::move(views)), rank_(rank) {
    for (std::size_t r = 0; r < views_.size(); ++r) {
      const Mapping& view = views_[r];
      const std::size_t skipped = registered[r] || view.bytes() == 0 ? 0 : lead;
      parts_.emplace_back(view.data() + skipped, view.bytes() - skipped);
    }
  }

  // Returns how many bytes to map for a window of `bytes`.
  static std::size_t mapped(std::size_t bytes) { return bytes == 0 ? 0 : bytes + lead; }

  std::byte* data() override { return at(rank_); }
  std::size_t bytes(int rank) const override { return part(rank).size(); }
  std::byte* at(int rank) const { return part(rank).data(); }

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    std::memcpy(into.data(), data() + offset, into.size());
  }
  void write(std::uint64_t offset, std::span<const std::byte> from) override {
    std::memcpy(data() + offset, from.data(), from.size());
  }

 private:
  // A window begins a few lines into its first page. When the pitch is a power of two, rows that begin at
  // page boundaries fall into the same few sets of the caches as everything else that does. This cost the
  // block-stride and strided faces of 128^3 doubles a fifth.
  static constexpr std::size_t lead = 256;

  std::span<std::byte> part(int rank) const { return parts_[static_cast<std::size_t>(rank)]; }

  std::vector<Mapping> views_;               // by rank
  std::vector<std::span<std::byte>> parts_;  // the window's part of each view
  int rank_;
};

inline std::byte* address(fabric::Memory* memory, int rank, std::uint64_t offset) {
  return static_cast<ShmMemory*>(memory)->at(rank) + offset;
}

}  // namespace tca::shm
