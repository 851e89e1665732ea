#include "mpi/gpu/driver.hpp"

#include <dlfcn.h>

#include <array>
#include <bit>

namespace tca::interposer::gpu {

const Driver* Driver::get() {
  static const std::optional<Driver> driver = []() -> std::optional<Driver> {
    Driver loaded;
    return loaded.load() ? std::optional(loaded) : std::nullopt;
  }();
  return driver ? &*driver : nullptr;
}

bool Driver::load() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  bool is_whole = true;
  const auto find = [&]<class Function>(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    is_whole = is_whole && function != nullptr;
  };
  find(push, "cuCtxPushCurrent_v2");
  find(pop, "cuCtxPopCurrent_v2");
  find(export_handle, "cuIpcGetMemHandle");
  find(open_handle, "cuIpcOpenMemHandle_v2");
  find(close_handle, "cuIpcCloseMemHandle");
  find(current_, "cuCtxGetCurrent");
  find(attribute_, "cuPointerGetAttribute");
  find(attributes_, "cuPointerGetAttributes");
  return is_whole;
}

std::optional<Allocation> Driver::find(const void* pointer) const {
  const auto address = std::bit_cast<CUdeviceptr>(pointer);
  unsigned long long id = 0;
  if (attribute_(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, address) != CUDA_SUCCESS) return {};
  // What the driver says of an allocation it says of no other, so most messages ask it one question.
  thread_local std::array<Allocation, 8> known;
  thread_local std::size_t next = 0;
  for (const Allocation& each : known)
    if (each.id == id && each.context != nullptr) return each;
  const std::optional<Allocation> found = ask(address, id);
  if (found) known[next++ % known.size()] = *found;
  return found;
}

std::optional<Allocation> Driver::ask(CUdeviceptr address, std::uint64_t id) const {
  Allocation found;
  found.id = id;
  CUdeviceptr base = 0;
  unsigned kind = 0, is_managed = 0, is_exportable = 0;
  std::array<CUpointer_attribute, 6> asked = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE,      CU_POINTER_ATTRIBUTE_CONTEXT,
      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
      CU_POINTER_ATTRIBUTE_IS_MANAGED,       CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE};
  std::array<void*, 6> answers = {&kind, &found.context, &base, &found.bytes, &is_managed, &is_exportable};
  if (attributes_(asked.size(), asked.data(), answers.data(), address) != CUDA_SUCCESS) return {};
  // Managed memory is a host's as well. What is mapped by hand is of no context.
  if (found.context == nullptr) current_(&found.context);
  if (kind != CU_MEMORYTYPE_DEVICE || is_managed != 0 || found.context == nullptr) return {};
  found.base = base;
  found.has_handle = is_exportable != 0;
  return found;
}

}  // namespace tca::interposer::gpu
