// Allocates memory for large state that is visited in no particular order. It uses huge pages if the system
// has them: otherwise most accesses to a model of tens of thousands of nodes would begin with a page-table
// walk.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

namespace tca::des {

template <class T>
struct LargeAllocator {
  using value_type = T;
  static constexpr std::size_t page = std::size_t{2} << 20;

  LargeAllocator() = default;
  template <class U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < page) return static_cast<T*>(::operator new (bytes, std::align_val_t{64}));
    void* memory = std::aligned_alloc(page, (bytes + page - 1) / page * page);
    if (memory == nullptr) throw std::bad_alloc();
    madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: without huge pages it is slower, not wrong
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < page) return ::operator delete (memory, std::align_val_t{64});
    std::free(memory);
  }

  bool operator==(const LargeAllocator&) const { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargeAllocator<T>>;

// Prefetches memory that will be needed soon, so that its cache lines are fetched in parallel.
inline void prefetch(const void* memory, std::size_t bytes) {
  constexpr std::uintptr_t line = 64;
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  for (std::uintptr_t at = begin / line * line; at < begin + bytes; at += line)
    __builtin_prefetch(reinterpret_cast<const void*>(at), 1);
}

}  // namespace tca::des
