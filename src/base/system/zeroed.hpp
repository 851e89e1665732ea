// This process's zeroed memory, beginning at a cache line, as windows and regions do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace tca::base {

class Zeroed {
 public:
  Zeroed() = default;
  // calloc leaves pages unallocated until first use, which aligned_alloc and a fill would not.
  explicit Zeroed(std::size_t bytes) : memory_(static_cast<std::byte*>(std::calloc(1, bytes + line - 1))) {}

  // Null if there was no memory.
  std::byte* data() const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    return memory_.get() + (line - address % line) % line;
  }

 private:
  static constexpr std::size_t line = 64;
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };

  std::unique_ptr<std::byte, Free> memory_;
};

}  // namespace tca::base
