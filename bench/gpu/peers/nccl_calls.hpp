// What all contenders of NCCL share: its errors as ours, communicators, and memory that it knows.
#pragma once

#include <nccl.h>

#include <cstddef>
#include <string>

#include "tca/world.hpp"

namespace tca::bench::gpu::nccl {

inline constexpr const char* peer_name = "nccl";

// Throws Error{device_failed} with NCCL's words.
void check(ncclResult_t result, const char* what);

std::string version();

// All ranks of a world. The constructor is collective. `by_copy_engine` asks for copies without a kernel where a collective has
// them.
class Communicator {
 public:
  explicit Communicator(World& world, bool by_copy_engine = false);
  Communicator(const Communicator&) = delete;
  ~Communicator();
  operator ncclComm_t() const { return comm_; }  // NOLINT: stands for the handle

 private:
  ncclComm_t comm_ = nullptr;
};

#ifdef OPENTCA_HAVE_NCCL_DEVICE
using Window = ncclWindow_t;
#else
using Window = void*;
#endif

// Zeroed memory of the GPU, as a program gets it by itself or as a symmetric window, which all ranks register together and with
// the same size.
class Memory {
 public:
  enum Kind { plain, window };

  Memory(ncclComm_t comm, std::size_t bytes, Kind kind);
  Memory(const Memory&) = delete;
  ~Memory();

  template <class T = std::byte>
  T* as() const {
    return static_cast<T*>(data_);
  }
  Window handle() const { return window_; }

 private:
  ncclComm_t comm_;
  Kind kind_;
  void* data_ = nullptr;
  Window window_ = nullptr;
};

// In which memory and in whose words NCCL is called.
struct Way {
  ncclComm_t comm;
  Memory::Kind memory = Memory::plain;
  std::string words;  // behind the name of what is called
};

}  // namespace tca::bench::gpu::nccl
