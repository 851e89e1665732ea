#include "mpi/gpu/mappings.hpp"

#include <algorithm>

namespace tca::interposer::gpu {

namespace {

// An owner that never sends of an allocation again does not say that it has freed it.
constexpr std::size_t most_mappings = 256;

}  // namespace

Handles& Handles::get() {
  static auto* const all = new Handles;
  return *all;
}

std::optional<Handle> Handles::of(const Allocation& allocation) {
  if (!allocation.has_handle) return {};
  const std::lock_guard lock(mutex_);
  Handle& known = by_base_[allocation.base];
  if (known.id == allocation.id) return known;
  known = {};
  const In in(allocation.context);
  CUipcMemHandle ipc{};
  if (Driver::get()->export_handle(&ipc, allocation.base) != CUDA_SUCCESS) return {};
  known = {allocation.id, allocation.base, ipc};
  return known;
}

Mappings& Mappings::get() {
  static auto* const all = new Mappings;
  return *all;
}

void Mappings::close(const Mapping& mapping) {
  if (mapping.here == 0) return;
  const In in(mapping.context);
  Driver::get()->close_handle(mapping.here);
}

std::optional<std::uint64_t> Mappings::find(int rank, const Handle& handle, CUcontext context) {
  const std::lock_guard lock(mutex_);
  auto known = std::ranges::find_if(all_, [&](const Mapping& each) {
    return each.rank == rank && each.handle.base == handle.base && each.context == context;
  });
  if (known != all_.end() && known->handle.id != handle.id) {
    close(*known);
    all_.erase(known);
    known = all_.end();
  }
  if (known != all_.end()) {
    all_.splice(all_.begin(), all_, known);
  } else {
    if (all_.size() == most_mappings) {
      close(all_.back());
      all_.pop_back();
    }
    all_.push_front({rank, handle, context, 0});
    const In in(context);
    if (Driver::get()->open_handle(&all_.front().here, handle.ipc, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) !=
        CUDA_SUCCESS)
      all_.front().here = 0;
  }
  if (all_.front().here == 0) return {};
  return all_.front().here;
}

void Mappings::forget_all() {
  const std::lock_guard lock(mutex_);
  for (const Mapping& mapping : all_) close(mapping);
  all_.clear();
}

}  // namespace tca::interposer::gpu
