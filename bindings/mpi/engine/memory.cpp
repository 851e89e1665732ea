#include "mpi/engine/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>

namespace tca::p2p {
namespace {

std::byte* mapped(int file, std::size_t bytes) {
  void* const data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

}  // namespace

Shared::Shared(std::size_t bytes)
    : bytes_(bytes), file_(memfd_create("opentca-messages", MFD_CLOEXEC)), is_own_(true) {
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(bytes)) == 0) data_ = mapped(file_, bytes);
  if (data_ == nullptr) {
    close_file();
    throw std::bad_alloc();
  }
}

Shared::Shared(pid_t process, int file, std::uint64_t address, std::size_t bytes)
    : bytes_(bytes), is_own_(process != getpid()) {
  if (!is_own_) {
    data_ = std::bit_cast<std::byte*>(address);
    return;
  }
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(file);
  const int opened = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened >= 0) {
    data_ = mapped(opened, bytes);
    close(opened);
  }
  if (data_ == nullptr) throw std::bad_alloc();
}

Shared::~Shared() {
  if (is_own_ && data_ != nullptr) munmap(data_, bytes_);
  close_file();
}

void Shared::close_file() {
  if (file_ >= 0) close(std::exchange(file_, -1));
}

bool read_from(pid_t process, std::uint64_t address, void* into, std::size_t bytes) {
  if (process == getpid()) {
    if (bytes > 0) std::memcpy(into, std::bit_cast<const void*>(address), bytes);
    return true;
  }
  for (std::size_t at = 0; at < bytes;) {
    const iovec here{static_cast<std::byte*>(into) + at, bytes - at};
    const iovec there{std::bit_cast<void*>(address + at), bytes - at};
    const ssize_t read = process_vm_readv(process, &here, 1, &there, 1, 0);
    if (read <= 0) return false;
    at += static_cast<std::size_t>(read);
  }
  return true;
}

}  // namespace tca::p2p
