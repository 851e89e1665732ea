// What PEs on several hosts do together: OpenTCA's collectives, made of chains, in place of kernels that meet. Values are copied
// to where a collective works and back, since it has memory and a number of elements of its own.
#pragma once

#include <cstddef>
#include <map>
#include <tuple>

#include "tca/raw/collective.hpp"
#include "tca/stream.hpp"
#include "tca/world.hpp"
#include "tca_nvshmem/types.h"

namespace tca::nvshmem {

class AcrossHosts {
 public:
  // How values are copied and a collective runs: on a stream where there are GPUs.
  using Copy = void (*)(void* to, const void* from, std::size_t bytes, Stream stream);
  using Run = void (*)(raw::Collective& collective, Stream stream);
  static constexpr std::size_t at_once = std::size_t{4} << 20;  // bytes; more go in several runs

  // Collective; `world` outlives it.
  AcrossHosts(World& world, Copy copy, Run run);

  // All PEs make these calls alike. The first of a size, to the next power of two, meets the others on the host.
  void barrier(Stream stream) { run_(barrier_, stream); }
  void sum(tca_nvshmem_kind kind, void* to, const void* from, std::size_t count, Stream stream);
  void broadcast(void* to, const void* from, std::size_t bytes, int root, Stream stream);

 private:
  struct What {
    CollectiveKind kind;
    DataType type;
    int root;
  };
  // `from` is null where this PE brings nothing.
  void carry(const What& what, void* to, const void* from, std::size_t bytes, Stream stream);
  raw::Collective& collective(const What& what, std::size_t bytes);

  World& world_;
  Copy copy_;
  Run run_;
  raw::Collective barrier_;
  std::map<std::tuple<CollectiveKind, DataType, int, std::size_t>, raw::Collective> made_;
};

}  // namespace tca::nvshmem
