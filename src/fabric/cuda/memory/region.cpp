#include "fabric/cuda/memory/region.hpp"

#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/fail.hpp"
#include "fabric/cuda/memory/pinned_memory.hpp"
#include "fabric/cuda/memory/shared_memories.hpp"

namespace tca::cuda {

namespace {

CUmemAllocationProp properties(int device, bool exported) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device}};
  prop.requestedHandleTypes = exported ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
  return prop;
}

// Maps physical memory so that all of `devices` reach it. Takes over the handle.
Region map(CUmemGenericAllocationHandle handle, std::size_t bytes, std::size_t mapped,
           std::span<const int> devices) {
  const Driver& d = driver();
  CUdeviceptr address = 0;
  if (const CUresult result = d.reserve(&address, mapped, 0, 0, 0); result != CUDA_SUCCESS) {
    d.release(handle);
    check(result, "reserving addresses for device memory");
  }
  Region region(reinterpret_cast<std::byte*>(address), bytes, [&d, address, mapped, handle] {
    d.unmap(address, mapped);
    d.free_address(address, mapped);
    d.release(handle);
  });
  check(d.map(address, mapped, 0, handle, 0), "mapping device memory");
  std::vector<CUmemAccessDesc> access;
  for (const int device : devices) {
    access.push_back({{CU_MEM_LOCATION_TYPE_DEVICE, {device}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  }
  check(d.set_access(address, mapped, access.data(), access.size()),
        "opening device memory to this process's GPUs");
  return region;
}

// Returns the GPUs of this process that can reach memory of `owner`.
std::vector<int> with_access_to(int owner) {
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting GPUs");
  std::vector<int> devices{owner};
  for (int device = 0; device < count; ++device) {
    int can = 0;
    if (device != owner && cudaDeviceCanAccessPeer(&can, device, owner) == cudaSuccess && can != 0)
      devices.push_back(device);
  }
  return devices;
}

int open_fd_of(int pid, int fd) {
  const int process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  const int copy = process < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_getfd, process, fd, 0));
  const int error = errno;
  if (process >= 0) close(process);
  if (copy < 0) {
    base::fail(Errc::incompatible,
               "cannot take over the memory that process {} shares: {}. Ranks of one host must run as "
               "one user, in one PID and one user namespace (one container), on Linux 5.6 or later, with "
               "pidfd_getfd allowed",
               pid, std::strerror(error));
  }
  return copy;
}

// Maps a memfd and pins it for all GPUs of this process.
Region pin(int fd, std::size_t bytes, std::size_t mapped) {
  void* const memory = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (memory == MAP_FAILED)
    base::fail(Errc::out_of_memory, "mapping {} bytes of host memory: {}", mapped, std::strerror(errno));
  bool is_pinned = false;
  const auto undo = [memory, mapped](bool pinned) {
    if (pinned) cudaHostUnregister(memory);
    munmap(memory, mapped);
  };
  try {
    check(cudaHostRegister(memory, mapped, cudaHostRegisterPortable | cudaHostRegisterMapped),
          fmt::format("pinning {} bytes of host memory", mapped));
    is_pinned = true;
    void* for_kernels = nullptr;
    check(cudaHostGetDevicePointer(&for_kernels, memory, 0), "looking at pinned host memory");
    if (for_kernels != memory)
      base::fail(
          Errc::incompatible,
          "this GPU does not reach pinned host memory at the host's address, as windows in host memory need");
  } catch (...) {
    undo(is_pinned);
    throw;
  }
  return Region(static_cast<std::byte*>(memory), bytes, [undo] { undo(true); });
}

// Returns the part of a region starting at `offset`.
Region part_of(Region whole, std::uint64_t offset, std::size_t bytes) {
  if (offset == 0) return whole;
  auto kept = std::make_shared<Region>(std::move(whole));
  return Region(kept->data() + offset, bytes, [kept] {});
}

// For a rank that is a separate process.
Region share_host_memory(std::size_t bytes, Token& token) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  token.mapped = (bytes + page - 1) / page * page;
  token.fd = memfd_create("opentca", MFD_CLOEXEC);  // whoever has the token closes it
  if (token.fd < 0 || ftruncate(token.fd, static_cast<off_t>(token.mapped)) != 0)
    base::fail(Errc::out_of_memory, "allocating {} bytes of host memory: {}", token.mapped,
               std::strerror(errno));
  auto pinned = std::make_shared<Region>(pin(token.fd, bytes, token.mapped));
  prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);  // see `allocate`
  shared_memories().add(pinned->data(), token.mapped, token.fd);
  return Region(pinned->data(), bytes, [pinned] { shared_memories().remove(pinned->data()); });
}

// For ranks that are threads of one process.
Region pin_host_memory(std::size_t bytes) {
  auto pinned = std::make_shared<PinnedMemory>(bytes);
  return Region(pinned->data(), bytes, [pinned] {});
}

}  // namespace

Region allocate_on_host(std::size_t bytes, bool exported, Token& token) {
  Region region = exported ? share_host_memory(bytes, token) : pin_host_memory(bytes);
  token.kind = Token::Kind::host;
  token.pid = getpid();
  token.address = reinterpret_cast<std::uint64_t>(region.data());
  token.bytes = bytes;
  return region;
}

Region allocate(int device, std::size_t bytes, bool exported, cudaStream_t stream, Token& token) {
  const Driver& d = driver();
  const CUmemAllocationProp prop = properties(device, exported);
  std::size_t granularity = 0;
  check(d.get_granularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED),
        "asking for the page size");
  const std::size_t mapped = (bytes + granularity - 1) / granularity * granularity;
  CUmemGenericAllocationHandle handle = 0;
  check(d.create(&handle, mapped, &prop, 0), fmt::format("allocating {} bytes on GPU {}", mapped, device));
  Region region = map(handle, bytes, mapped, exported ? std::vector<int>{device} : with_access_to(device));
  token = {.kind = Token::Kind::exported,
           .pid = getpid(),
           .device = device,
           .address = reinterpret_cast<std::uint64_t>(region.data()),
           .bytes = bytes,
           .mapped = mapped};
  if (exported) {
    // With Yama's ptrace_scope 1 a process may only look into its own children. This call lets partners
    // fetch the handle nevertheless.
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
    check(d.export_handle(&token.fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
          "exporting device memory");
  }
  check(cudaMemsetAsync(region.data(), 0, mapped, stream), "clearing device memory");
  check(cudaStreamSynchronize(stream), "clearing device memory");
  return region;
}

Region attach(int device, const Token& token) {
  if (token.pid == getpid()) {
    if (token.device != device && token.kind == Token::Kind::legacy) {
      const cudaError_t result = cudaDeviceEnablePeerAccess(token.device, 0);
      if (result == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
      } else {
        check(result, "opening another GPU's memory");
      }
    }
    return Region(reinterpret_cast<std::byte*>(token.address), token.bytes, {});
  }
  if (token.kind == Token::Kind::legacy) {
    void* base = nullptr;
    check(cudaIpcOpenMemHandle(&base, token.ipc, cudaIpcMemLazyEnablePeerAccess),
          "mapping another process's memory");
    return Region(static_cast<std::byte*>(base) + token.offset, token.bytes,
                  [base] { cudaIpcCloseMemHandle(base); });
  }
  const int fd = open_fd_of(token.pid, token.fd);
  if (token.kind == Token::Kind::host) {
    const struct Closed {
      int fd;
      ~Closed() { close(fd); }
    } closed{fd};
    return part_of(pin(fd, token.offset + token.bytes, token.mapped), token.offset, token.bytes);
  }
  CUmemGenericAllocationHandle handle = 0;
  const CUresult result =
      driver().import_handle(&handle, reinterpret_cast<void*>(static_cast<std::uintptr_t>(fd)),
                             CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  close(fd);
  check(result, "importing another process's device memory");
  return part_of(map(handle, token.offset + token.bytes, token.mapped, std::array{device}), token.offset,
                 token.bytes);
}

void seal(const Token& token) {
  if (token.fd >= 0) close(token.fd);
}

}  // namespace tca::cuda
