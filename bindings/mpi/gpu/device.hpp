// Where copies run: for each context of the program a stream of the library's own, and memory through which it and the host speak.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <mutex>

#include "mpi/gpu/copy.hpp"
#include "mpi/gpu/driver.hpp"

namespace tca::interposer::gpu {

// Any thread may call.
class Device {
 public:
  // Returns null where CUDA has no more to give. `context` is the program's.
  static Device* of(CUcontext context);
  // One that is there already, or null: for memory of others, where the program's own buffer is in host memory.
  static Device* any();

  // Return when all is copied, and whether it could be.
  bool copy(const Places& from, const Places& to, std::uint64_t bytes);
  bool copy_out(const Places& from, std::uint64_t at, std::uint64_t bytes, std::byte* into);
  bool copy_in(const Places& to, std::uint64_t at, std::uint64_t bytes, const std::byte* from);

  CUcontext context() const { return context_; }

 private:
  explicit Device(CUcontext context);
  bool run(const Places& from, std::uint64_t from_at, const Places& to, std::uint64_t to_at,
           std::uint64_t bytes);
  bool run_few(const std::byte* from, std::byte* to, std::uint32_t bytes);

  // What is written to the host in pinned memory, before the room for bytes.
  struct Words {
    volatile std::uint32_t done;
    Question question;
    Answer answer;
  };

  CUcontext context_;
  std::mutex mutex_;  // one copy at a time
  cudaStream_t stream_ = nullptr, attended_ = nullptr;
  Words* words_ = nullptr;
  std::byte* room_ = nullptr;
  std::uint32_t* blocks_ = nullptr;
  std::uint32_t ticket_ = 0;
  std::uint32_t asked_ = 0, attendants_ = 0;
  bool is_attended_ = false;
  bool is_broken_ = true;
};

}  // namespace tca::interposer::gpu
