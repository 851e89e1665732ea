// The host memory that this process shares with others.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <map>
#include <mutex>

#include "fabric/cuda/memory/region.hpp"

namespace tca::cuda {

// Keeps the descriptors with which a part of it can be shared again.
class SharedMemories {
 public:
  void add(std::byte* begin, std::size_t mapped, int fd) {
    const std::lock_guard guard(mutex_);
    all_[begin] = {mapped, fcntl(fd, F_DUPFD_CLOEXEC, 0)};
  }
  void remove(std::byte* begin) {
    const std::lock_guard guard(mutex_);
    const auto found = all_.find(begin);
    if (found == all_.end()) return;
    close(found->second.fd);
    all_.erase(found);
  }
  // Describes memory that is in one of them. Returns false if it is not.
  bool describe(std::byte* data, std::size_t bytes, Token& token) {
    const std::lock_guard guard(mutex_);
    auto next = all_.upper_bound(data);
    if (next == all_.begin()) return false;
    const auto& [begin, shared] = *--next;
    token.offset = static_cast<std::uint64_t>(data - begin);
    if (token.offset + bytes > shared.mapped) return false;
    token.kind = Token::Kind::host;
    token.mapped = shared.mapped;
    token.fd = fcntl(shared.fd, F_DUPFD_CLOEXEC, 0);
    return token.fd >= 0;
  }

 private:
  struct Shared {
    std::size_t mapped = 0;
    int fd = -1;
  };

  std::mutex mutex_;  // ranks may be threads
  std::map<std::byte*, Shared> all_;
};

// Never destroyed: a program's exit handlers may end its world after the library's static objects are gone.
inline SharedMemories& shared_memories() {
  static SharedMemories& all = *new SharedMemories;
  return all;
}

}  // namespace tca::cuda
