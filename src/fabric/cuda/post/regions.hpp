// Regions that ranks on GPUs expose by themselves: how a source maps one, and who keeps its memory.
//
// The library's memory stays until the owner and every source that has mapped it have released it. So a
// store that arrives after the region's end, from a post on a stream or in a graph, hits memory that nobody
// else uses. The program's own memory may by then be anything else: for such memory sources announce when
// they store, and the end waits for them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "fabric/cuda/memory/region.hpp"
#include "fabric/posting.hpp"
#include "tca/device/posts.hpp"

namespace tca::cuda {

class CudaPoster;

// A region as its source has mapped it. Posts keep it as long as their kernels may store there.
struct Mapped {
  std::shared_ptr<const Region> memory;
  device::PostRegion view;    // without a turn
  bool is_program_s = false;  // so that its stores need one
};

class CudaFarRegion final : public fabric::FarRegion {
 public:
  CudaFarRegion(const std::atomic<std::uint64_t>& live, Mapped mapped)
      : live_(live), mapped_(std::make_shared<const Mapped>(std::move(mapped))) {}
  bool is_live() const override { return live_.load(std::memory_order_acquire) == mapped_->view.generation; }
  const std::shared_ptr<const Mapped>& mapped() const { return mapped_; }

 private:
  const std::atomic<std::uint64_t>& live_;
  std::shared_ptr<const Mapped> mapped_;
};

class CudaOwnRegion final : public fabric::OwnRegion {
 public:
  CudaOwnRegion(CudaPoster& poster, const fabric::RegionSpec& spec);
  CudaOwnRegion(const CudaOwnRegion&) = delete;
  ~CudaOwnRegion() override;

  std::byte* data() const override { return memory_->data(); }
  const fabric::RegionName& name() const override { return name_; }
  void read(std::uint64_t offset, std::span<std::byte> into) const override;
  void write(std::uint64_t offset, std::span<const std::byte> from) const override;

 private:
  CudaPoster& poster_;
  Token token_;
  std::shared_ptr<const Region> memory_;
  bool is_program_s_;
  fabric::RegionName name_;
};

// The memory of this process's regions, through which ranks that are threads share it. Returns null for a
// region that is gone.
std::shared_ptr<const Region> region_of_process(const fabric::RegionName& name);

}  // namespace tca::cuda
