// A window's memory: every rank's part, mapped here.
#pragma once

#include <utility>
#include <vector>

#include "fabric/cuda/engine.hpp"
#include "fabric/cuda/host_copier.hpp"
#include "fabric/cuda/region.hpp"
#include "fabric/fabric.hpp"

namespace tca::cuda {

class CudaMemory final : public fabric::Memory {
 public:
  CudaMemory(std::vector<Region> parts, int rank, HostCopier& copier, Engine& engine)
      : parts_(std::move(parts)), rank_(rank), copier_(copier), engine_(engine) {}
  ~CudaMemory() override { engine_.free_when_parked(std::move(parts_)); }

  std::byte* data() override { return at(rank_); }
  std::size_t bytes(int rank) const override { return parts_[static_cast<std::size_t>(rank)].bytes(); }
  std::byte* at(int rank) const { return parts_[static_cast<std::size_t>(rank)].data(); }

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    copier_.read(at(rank_) + offset, into);
  }
  void write(std::uint64_t offset, std::span<const std::byte> from) override {
    copier_.write(at(rank_) + offset, from);
  }

 private:
  std::vector<Region> parts_;  // by rank
  int rank_;
  HostCopier& copier_;
  Engine& engine_;
};

inline std::byte* address(fabric::Memory* memory, int rank, std::uint64_t offset) {
  return static_cast<CudaMemory*>(memory)->at(rank) + offset;
}

}  // namespace tca::cuda
