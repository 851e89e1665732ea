// Memory that ranks of a host share, and memory of another rank that this one may read. Ranks that are threads of one process
// share all of it anyway.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace tca::p2p {

// A mapping of a file without a name, so that nothing is left over whatever happens, and /dev/shm may be small.
class Shared {
 public:
  Shared() = default;
  // Zeroed memory of this rank. Throws std::bad_alloc where the system gives none.
  explicit Shared(std::size_t bytes);
  // That of another rank, by the process, its descriptor and its address there. Throws std::bad_alloc where the system does
  // not let this process have it.
  Shared(pid_t process, int file, std::uint64_t address, std::size_t bytes);
  Shared(Shared&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)),
        file_(std::exchange(other.file_, -1)),
        is_own_(std::exchange(other.is_own_, false)) {}
  Shared& operator=(Shared&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(file_, other.file_);
    std::swap(is_own_, other.is_own_);
    return *this;
  }
  ~Shared();

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  [[nodiscard]] int file() const { return file_; }
  // Once all who need the file have opened it.
  void close_file();

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int file_ = -1;
  bool is_own_ = false;  // mapped here, and not by another thread of this process
};

// Copies memory of another process. Returns whether all of it could be read.
[[nodiscard]] bool read_from(pid_t process, std::uint64_t address, void* into, std::size_t bytes);

}  // namespace tca::p2p
