// What is asked of CUDA's driver, found by name: a program that uses none has no driver to be linked with.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tca::interposer::gpu {

// Memory of a GPU, as the driver knows it.
struct Allocation {
  CUcontext context = nullptr;
  std::uint64_t id = 0;  // of no other allocation of this process, ever
  std::uint64_t base = 0;
  std::size_t bytes = 0;
  bool has_handle = false;  // so that other processes may map it
};

class Driver {
 public:
  // Returns null where the host has none.
  static const Driver* get();

  // Returns nothing for memory of a host, and for a pointer that CUDA does not know.
  std::optional<Allocation> find(const void* pointer) const;

  CUresult (*push)(CUcontext) = nullptr;
  CUresult (*pop)(CUcontext*) = nullptr;
  CUresult (*export_handle)(CUipcMemHandle*, CUdeviceptr) = nullptr;
  CUresult (*open_handle)(CUdeviceptr*, CUipcMemHandle, unsigned) = nullptr;
  CUresult (*close_handle)(CUdeviceptr) = nullptr;

 private:
  bool load();
  std::optional<Allocation> ask(CUdeviceptr address, std::uint64_t id) const;
  CUresult (*current_)(CUcontext*) = nullptr;
  CUresult (*attribute_)(void*, CUpointer_attribute, CUdeviceptr) = nullptr;
  CUresult (*attributes_)(unsigned, CUpointer_attribute*, void**, CUdeviceptr) = nullptr;
};

// Makes a context this thread's for as long as it lives.
class In {
 public:
  explicit In(CUcontext context) { Driver::get()->push(context); }
  In(const In&) = delete;
  ~In() {
    CUcontext context = nullptr;
    Driver::get()->pop(&context);
  }
};

}  // namespace tca::interposer::gpu
