// The memory of a window: ordinary memory of the process, in which every rank sees the parts of all ranks.
#pragma once

#include <cstdlib>
#include <cstring>
#include <memory>

#include "fabric/fabric.hpp"
#include "fabric/sim/model.hpp"

namespace tca::sim {

struct Free {
  void operator()(std::byte* memory) const { std::free(memory); }
};
using Owned = std::unique_ptr<std::byte, Free>;

// Allocates zeroed memory for a part, which begins at a cache line. Returns null where there is none. calloc
// leaves the pages to their first use.
inline Owned allocate(std::size_t bytes, std::span<std::byte>& part) {
  constexpr std::size_t alignment = 64;
  Owned owned(static_cast<std::byte*>(std::calloc(1, bytes + alignment)));
  if (owned == nullptr) return owned;
  const auto address = reinterpret_cast<std::uintptr_t>(owned.get());
  part = {owned.get() + (alignment - address % alignment), bytes};
  return owned;
}

class SimMemory final : public fabric::Memory {
 public:
  SimMemory(std::shared_ptr<Regions> regions, Owned owned, int rank)
      : regions_(std::move(regions)), owned_(std::move(owned)), rank_(rank) {}
  ~SimMemory() override { regions_->gone[static_cast<std::size_t>(rank_)] = true; }

  std::byte* data() override { return at(rank_); }
  std::size_t bytes(int rank) const override { return part(rank).size(); }
  std::byte* at(int rank) const { return part(rank).data(); }
  const std::shared_ptr<Regions>& regions() const { return regions_; }

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    if (!into.empty()) std::memcpy(into.data(), data() + offset, into.size());
  }
  void write(std::uint64_t offset, std::span<const std::byte> from) override {
    if (!from.empty()) std::memcpy(data() + offset, from.data(), from.size());
  }

 private:
  std::span<std::byte> part(int rank) const { return regions_->parts[static_cast<std::size_t>(rank)]; }

  std::shared_ptr<Regions> regions_;
  Owned owned_;
  int rank_;
};

inline std::byte* address(fabric::Memory* memory, int rank, std::uint64_t offset) {
  return static_cast<SimMemory*>(memory)->at(rank) + offset;
}

}  // namespace tca::sim
