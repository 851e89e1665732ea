// Host memory that kernels reach. It is initially zero.
#pragma once

#include <cstddef>
#include <cstring>

#include "fabric/cuda/call.hpp"

namespace tca::cuda {

class PinnedMemory {
 public:
  explicit PinnedMemory(std::size_t bytes) {
    if (bytes == 0) return;
    void* pinned = nullptr;
    check(cudaHostAlloc(&pinned, bytes, cudaHostAllocMapped | cudaHostAllocPortable), "pinning host memory");
    std::memset(pinned, 0, bytes);
    data_ = static_cast<std::byte*>(pinned);
  }
  PinnedMemory(const PinnedMemory&) = delete;
  ~PinnedMemory() { cudaFreeHost(data_); }

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

}  // namespace tca::cuda
