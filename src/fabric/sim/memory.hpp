// The memory of a window: ordinary process memory, in which every rank sees the parts of all ranks.
#pragma once

#include <cstring>
#include <memory>

#include "base/system/zeroed.hpp"
#include "fabric/fabric.hpp"
#include "fabric/sim/model.hpp"

namespace tca::sim {

class SimMemory final : public fabric::Memory {
 public:
  SimMemory(std::shared_ptr<Regions> regions, base::Zeroed owned, int rank)
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
  base::Zeroed owned_;
  int rank_;
};

inline std::byte* address(fabric::Memory* memory, int rank, std::uint64_t offset) {
  return static_cast<SimMemory*>(memory)->at(rank) + offset;
}

}  // namespace tca::sim
