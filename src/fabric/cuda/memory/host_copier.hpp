// Copies between host memory and a GPU.
//
// Copies use a small pinned buffer, so that they wait for nothing but their own stream: kernels on other
// streams may be waiting for another rank.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "fabric/cuda/memory/pinned_memory.hpp"

namespace tca::cuda {

class HostCopier {
 public:
  explicit HostCopier(cudaStream_t stream) : stream_(stream) {}

  // Both copies are done when they return.
  void read(const std::byte* from, std::span<std::byte> into) {
    for (; !into.empty(); from += bytes) {
      const std::size_t count = std::min(bytes, into.size());
      copy(pinned_.data(), from, count);
      std::memcpy(into.data(), pinned_.data(), count);
      into = into.subspan(count);
    }
  }
  void write(std::byte* to, std::span<const std::byte> from) {
    for (; !from.empty(); to += bytes) {
      const std::size_t count = std::min(bytes, from.size());
      std::memcpy(pinned_.data(), from.data(), count);
      copy(to, pinned_.data(), count);
      from = from.subspan(count);
    }
  }

 private:
  static constexpr std::size_t bytes = std::size_t{1} << 20;

  void copy(void* to, const void* from, std::size_t count) {
    check(cudaMemcpyAsync(to, from, count, cudaMemcpyDefault, stream_), "copying between host and GPU");
    check(cudaStreamSynchronize(stream_), "copying between host and GPU");
  }

  cudaStream_t stream_;
  PinnedMemory pinned_{bytes};
};

}  // namespace tca::cuda
