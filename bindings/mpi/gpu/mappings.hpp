// Memory that processes of a host map of each other: each allocation once, and not longer than the owner has it, as far as its next
// message tells.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>

#include "mpi/gpu/driver.hpp"

namespace tca::interposer::gpu {

// How another process maps an allocation.
struct Handle {
  std::uint64_t id = 0, base = 0;
  CUipcMemHandle ipc{};
};

// Of this process's allocations, by where they begin.
class Handles {
 public:
  static Handles& get();
  // Returns nothing for memory that no other process can map.
  std::optional<Handle> of(const Allocation& allocation);

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, Handle> by_base_;
};

// Of other processes' allocations.
class Mappings {
 public:
  static Mappings& get();
  // Returns where memory of the rank is in a context of this process, or nothing where it cannot be mapped. Another allocation
  // that was at the same place is forgotten, as its owner has freed it.
  std::optional<std::uint64_t> find(int rank, const Handle& handle, CUcontext context);
  void forget_all();

 private:
  struct Mapping {
    int rank;
    Handle handle;
    CUcontext context;
    CUdeviceptr here;  // 0: it could not be mapped
  };
  static void close(const Mapping& mapping);

  std::mutex mutex_;
  std::list<Mapping> all_;  // what was used last comes first
};

}  // namespace tca::interposer::gpu
