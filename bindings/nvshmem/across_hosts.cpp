#include "nvshmem/across_hosts.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tca::nvshmem {
namespace {

constexpr const char* name = "NVSHMEM_TEAM_WORLD";
constexpr std::size_t fewest = 512;  // bytes that a collective is made for

DataType type_of(tca_nvshmem_kind kind) {
  switch (kind) {
    case tca_nvshmem_float32:
      return DataType::float32;
    case tca_nvshmem_float64:
      return DataType::float64;
    case tca_nvshmem_word32:
      return DataType::int32;
    case tca_nvshmem_word64:
      break;
  }
  return DataType::int64;
}

}  // namespace

AcrossHosts::AcrossHosts(World& world, Copy copy, Run run)
    : world_(world),
      copy_(copy),
      run_(run),
      barrier_(world, {.kind = CollectiveKind::barrier, .name = name}) {}

void AcrossHosts::sum(tca_nvshmem_kind kind, void* to, const void* from, std::size_t count, Stream stream) {
  const DataType type = type_of(kind);
  carry({CollectiveKind::all_reduce, type, 0}, to, from, count * bytes_of(type), stream);
}

void AcrossHosts::broadcast(void* to, const void* from, std::size_t bytes, int root, Stream stream) {
  carry({CollectiveKind::broadcast, DataType::int64, root}, to, world_.rank() == root ? from : nullptr, bytes,
        stream);
}

// A collective's elements behind those that are asked for are whatever is there, and go nowhere.
void AcrossHosts::carry(const What& what, void* to, const void* from, std::size_t bytes, Stream stream) {
  for (std::size_t done = 0; done < bytes; done += at_once) {
    const std::size_t piece = std::min(at_once, bytes - done);
    raw::Collective& one = collective(what, piece);
    void* const values = one.to().data();
    if (from != nullptr) copy_(values, static_cast<const std::byte*>(from) + done, piece, stream);
    run_(one, stream);
    copy_(static_cast<std::byte*>(to) + done, values, piece, stream);
  }
}

raw::Collective& AcrossHosts::collective(const What& what, std::size_t bytes) {
  const std::size_t room = std::bit_ceil(std::max(bytes, fewest)), element = bytes_of(what.type);
  const auto key = std::tuple(what.kind, what.type, what.root, room);
  if (const auto made = made_.find(key); made != made_.end()) return made->second;
  raw::Collective one(world_, {.kind = what.kind,
                               .name = name,
                               .type = what.type,
                               .element_bytes = element,
                               .count = static_cast<std::int64_t>(room / element),
                               .root = what.root});
  return made_.emplace(key, std::move(one)).first->second;
}

}  // namespace tca::nvshmem
