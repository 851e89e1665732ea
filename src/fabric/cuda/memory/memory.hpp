// A window's memory: the parts of all ranks, mapped on this one.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "fabric/cuda/memory/host_copier.hpp"
#include "fabric/cuda/memory/inbox.hpp"
#include "fabric/cuda/memory/region.hpp"
#include "fabric/fabric.hpp"

namespace tca::cuda {

class CudaMemory final : public fabric::Memory {
 public:
  // `number` is not 0.
  CudaMemory(std::vector<Region> parts, int rank, Word number, bool on_host, Inbox& inbox, HostCopier& copier)
      : parts_(std::move(parts)), rank_(rank), on_host_(on_host), copier_(copier) {
    device_.rank = static_cast<Word>(rank);
    device_.size = static_cast<Word>(std::min<std::size_t>(parts_.size(), device_.max_ranks));
    for (Word r = 0; r < device_.size; ++r) {
      device_.parts[r] = parts_[r].data();
      device_.elements[r] = parts_[r].bytes();
    }
    device_.number = number;
    device_.refused = inbox.refused();
    device_.refusal = &inbox.refusal();
  }

  std::byte* data() override { return at(rank_); }
  std::size_t bytes(int rank) const override { return parts_[static_cast<std::size_t>(rank)].bytes(); }
  bool is_on_host() const { return on_host_; }
  std::byte* at(int rank) const { return parts_[static_cast<std::size_t>(rank)].data(); }

  const DeviceWindow<std::byte>* device_window() const override { return &device_; }

  void read(std::uint64_t offset, std::span<std::byte> into) override {
    copier_.read(at(rank_) + offset, into);
  }
  void write(std::uint64_t offset, std::span<const std::byte> from) override {
    copier_.write(at(rank_) + offset, from);
  }

 private:
  std::vector<Region> parts_;  // by rank
  int rank_;
  bool on_host_;
  DeviceWindow<std::byte> device_;
  HostCopier& copier_;
};

inline std::byte* address(fabric::Memory* memory, int rank, std::uint64_t offset) {
  return static_cast<CudaMemory*>(memory)->at(rank) + offset;
}

}  // namespace tca::cuda
