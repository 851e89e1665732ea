// What a PE has: its world, its symmetric heap, and the teams that it is in.
#pragma once

#include <cstddef>
#include <string>

#include "nvshmem/heap.hpp"
#include "nvshmem/misuse.hpp"
#include "nvshmem/teams.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::nvshmem {

// The size of the heap by NVSHMEM_SYMMETRIC_SIZE, such as 512M; 1 GiB without it. Throws Misuse for anything else.
std::size_t heap_bytes(const char* setting);

class Pe {
 public:
  // Collective; `world` outlives it.
  Pe(World& world, std::size_t heap_bytes);

  int rank() const { return world_.rank(); }
  int size() const { return world_.size(); }
  World& world() { return world_; }
  const Teams& teams() const { return teams_; }
  std::byte* heap() const { return window_.data(); }
  std::size_t heap_size() const { return heap_.bytes(); }
  // The heaps of all PEs; null where this one does not reach them.
  const DeviceWindow<std::byte>& parts() const { return window_.untyped().device(); }
  std::size_t offset_of(const void* memory) const;
  bool holds(const void* memory, std::size_t bytes = 1) const;

  // Collective. Null where no bytes are asked for, and on every PE alike where the heap has no room, of which `complaint`
  // then tells. Throws Misuse, on every PE alike, where the PEs ask for different memory.
  void* allocate(std::size_t bytes, std::size_t alignment, bool cleared, std::string& complaint);
  void release(void* memory);

 private:
  void clear(std::size_t offset, std::size_t bytes);

  World& world_;
  Teams teams_;
  Window<std::byte> window_;
  Heap heap_;
  std::size_t alignment_;  // of every PE's heap
};

}  // namespace tca::nvshmem
