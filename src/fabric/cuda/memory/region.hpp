// A region of device memory, or of host memory that kernels reach, and that other ranks reach: allocated here,
// registered by the caller, or mapped from another rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "fabric/cuda/call.hpp"

namespace tca::cuda {

// Tells another rank how to find a region.
struct Token {
  enum class Kind : std::uint32_t { none, exported, legacy, host } kind = Kind::none;
  std::int32_t pid = 0;
  std::int32_t device = 0;  // as numbered in the owner's process
  std::int32_t fd =
      -1;  // in process `pid`: the handle of physical memory that the driver exported, or a memfd
  std::uint64_t address = 0;  // in process `pid`
  std::uint64_t bytes = 0;
  std::uint64_t mapped = 0;  // exported, and host: bytes of the physical memory
  std::uint64_t offset = 0;  // where the region begins in what others map
  cudaIpcMemHandle_t ipc{};
};

// A region, which its destructor releases.
class Region {
 public:
  Region() = default;
  Region(std::byte* data, std::size_t bytes, std::function<void()> undo)
      : data_(data), bytes_(bytes), undo_(std::move(undo)) {}
  Region(Region&& other) noexcept { *this = std::move(other); }
  Region& operator=(Region&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(undo_, other.undo_);
    return *this;
  }
  ~Region() {
    if (undo_) undo_();
  }

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::function<void()> undo_;
};

// Allocates memory on `device` and zeroes it on `stream`. With the token other processes can attach to it
// until `seal`.
Region allocate(int device, std::size_t bytes, bool exported, cudaStream_t stream, Token& token);

// Allocates zeroed host memory, pinned and at the same address for the host and for all GPUs of this
// process. With the token other processes can attach to it until `seal`, if it is `exported`.
Region allocate_on_host(std::size_t bytes, bool exported, Token& token);

// Registers the caller's existing memory. Throws Error{invalid_argument} for memory that other ranks could
// not reach.
Region adopt(int device, std::byte* data, std::size_t bytes, bool exported, Token& token);

// The same for a rank that does so by itself, where others may attach long afterwards: also parts of
// windows, of the library's device memory and, if the ranks are threads, of pinned host memory.
Region adopt_alone(int device, std::byte* data, std::size_t bytes, bool exported, Token& token);

// Makes another rank's region reachable from `device`.
Region attach(int device, const Token& token);

// Called once every rank has attached: no process can attach afterwards.
void seal(const Token& token);

}  // namespace tca::cuda
