// The program's own memory, as windows and regions use it.
#include <unistd.h>

#include "base/fail.hpp"
#include "fabric/cuda/memory/region.hpp"
#include "fabric/cuda/memory/shared_memories.hpp"

namespace tca::cuda {

Region adopt(int device, std::byte* data, std::size_t bytes, bool exported, Token& token) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, data), "looking at the memory to register");
  if (attributes.type != cudaMemoryTypeDevice) {
    base::fail(Errc::invalid_argument,
               "{} is {} memory; register what cudaMalloc gave, or let World::window allocate",
               fmt::ptr(data), attributes.type == cudaMemoryTypeManaged ? "managed" : "host");
  }
  if (attributes.device != device) {
    base::fail(Errc::invalid_argument, "{} is memory of GPU {}, but this rank drives GPU {}", fmt::ptr(data),
               attributes.device, device);
  }
  CUdeviceptr base = 0;
  std::size_t size = 0;
  const auto address = reinterpret_cast<std::uint64_t>(data);
  check(driver().get_address_range(&base, &size, address), "finding the allocation to register");
  if (address + bytes > base + size) {
    base::fail(Errc::invalid_argument, "{} bytes from {} reach past the end of their allocation of {} bytes",
               bytes, fmt::ptr(data), size);
  }
  token = {.kind = Token::Kind::legacy,
           .pid = getpid(),
           .device = device,
           .address = address,
           .bytes = bytes,
           .offset = address - base};
  if (exported && cudaIpcGetMemHandle(&token.ipc, data) != cudaSuccess) {
    cudaGetLastError();
    base::fail(
        Errc::invalid_argument,
        "{} cannot be shared with other processes: CUDA shares what cudaMalloc gave, not memory of a pool "
        "(cudaMallocAsync) or of the driver's virtual-memory calls; let World::window allocate it",
        fmt::ptr(data));
  }
  return Region(data, bytes, {});
}

namespace {

// Shares memory from cuMemCreate once more, such as that of windows. Returns false for memory of other
// kinds.
bool export_again(std::uint64_t address, std::size_t bytes, Token& token) {
  const Driver& d = driver();
  CUdeviceptr base = 0;
  std::size_t size = 0;
  CUmemGenericAllocationHandle handle = 0;
  if (d.get_address_range(&base, &size, address) != CUDA_SUCCESS || address + bytes > base + size)
    return false;
  if (d.retain(&handle, reinterpret_cast<void*>(base)) != CUDA_SUCCESS) return false;
  const bool is_shared =
      d.export_handle(&token.fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) == CUDA_SUCCESS;
  d.release(handle);
  if (!is_shared) return false;
  token.kind = Token::Kind::exported;
  token.mapped = size;
  token.offset = address - base;
  return true;
}

Region adopt_host_memory(std::byte* data, std::size_t bytes, bool is_pinned, bool exported, Token& token) {
  if (!is_pinned) {
    base::fail(
        Errc::invalid_argument,
        "{} is ordinary host memory, which GPUs do not reach; make a region with memory of its own "
        "(Region or Region::on_host), or give one memory of a window, of cudaMalloc or of cudaHostAlloc",
        fmt::ptr(data));
  }
  void* for_kernels = nullptr;
  if (cudaHostGetDevicePointer(&for_kernels, data, 0) != cudaSuccess || for_kernels != data) {
    cudaGetLastError();
    base::fail(Errc::invalid_argument,
               "{} is pinned host memory that kernels do not reach at the same address; pin it with "
               "cudaHostAllocMapped and cudaHostAllocPortable",
               fmt::ptr(data));
  }
  token.kind = Token::Kind::host;
  if (exported && !shared_memories().describe(data, bytes, token)) {
    base::fail(
        Errc::invalid_argument,
        "{} is pinned host memory that other processes cannot map; make a region with memory of its own "
        "(Region::on_host), or of a window in host memory (World::host_window)",
        fmt::ptr(data));
  }
  return Region(data, bytes, {});
}

}  // namespace

Region adopt_alone(int device, std::byte* data, std::size_t bytes, bool exported, Token& token) {
  cudaPointerAttributes attributes{};
  check(cudaPointerGetAttributes(&attributes, data), "looking at the memory of a region");
  token = {
      .pid = getpid(), .device = device, .address = reinterpret_cast<std::uint64_t>(data), .bytes = bytes};
  if (attributes.type == cudaMemoryTypeHost || attributes.type == cudaMemoryTypeUnregistered)
    return adopt_host_memory(data, bytes, attributes.type == cudaMemoryTypeHost, exported, token);
  if (attributes.type == cudaMemoryTypeDevice && attributes.device == device) {
    token.kind = Token::Kind::legacy;
    if (!exported || export_again(token.address, bytes, token)) return Region(data, bytes, {});
  }
  return adopt(device, data, bytes, exported, token);
}

}  // namespace tca::cuda
