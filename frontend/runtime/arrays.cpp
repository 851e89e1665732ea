// Distributed arrays: where their elements are, and their memory.
#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

#include "runtime/check/checks.hpp"

using namespace tca::xacc;

namespace tca::xacc {
namespace {

// The most elements that any node has; the same on every rank, so that all find memory again or none does.
std::int64_t capacity_of(const xacc_layout& layout) {
  std::int64_t capacity = 1;
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    const xacc_dimension& dim = layout.dims[d];
    std::int64_t most = 0;
    std::vector<int> at(XACC_DIMS);
    for (int p = 0; p < dim.parts; ++p) {
      if (dim.node_dim >= 0) at[static_cast<std::size_t>(dim.node_dim)] = p;
      most = std::max(most, layout.extent(d, at.data()));
    }
    capacity *= most;
  }
  return std::max<std::int64_t>(capacity, 1);
}

// Says where this rank's elements are, from `base` on.
void place_elements(xacc_array& a, void* base) {
  const xacc_layout& layout = *a.layout;
  const xacc_nodes& nodes = *layout.on->nodes;
  std::int64_t stride = 1, back = 0;
  for (std::size_t d = layout.dims.size(); d-- > 0;) {
    a.extent[d] = layout.extent(d, nodes.at);
    back += layout.first(d, nodes.at) * stride;
    stride *= a.extent[d];
  }
  a.base = base;
  // No pointer arithmetic: the origin may lie outside of the memory.
  a.origin = reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(base) -
                                     back * static_cast<std::int64_t>(layout.element_bytes));
}

void check_fit(const xacc_layout& layout) {
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    const xacc_dimension& dim = layout.dims[d];
    if (dim.align.template_dim < 0) continue;
    const xacc_split& split = layout.on->dim[dim.align.template_dim];
    const std::int64_t first = dim.align.offset, last = dim.size - 1 + dim.align.offset;
    if (first < split.low || last >= split.low + split.size)
      refuse(layout.name + ": element " + std::to_string(first < split.low ? 0 : dim.size - 1) +
             " of dimension " + std::to_string(d) + " lies at index " +
             std::to_string(first < split.low ? first : last) + " of template " + layout.on->name +
             ", which goes from " + std::to_string(split.low) + " to " +
             std::to_string(split.low + split.size - 1));
  }
}

void set_sizes(xacc_layout& layout, const std::int64_t* extents) {
  for (std::size_t d = 0; d < layout.dims.size(); ++d) {
    xacc_dimension& dim = layout.dims[d];
    const xacc_split* split = dim.align.template_dim >= 0 ? &layout.on->dim[dim.align.template_dim] : nullptr;
    if (split && split->size < 0)
      refuse("template " + std::string(layout.on->name) + " has no size yet, and " + layout.name +
             " is made on it: put template_fix in front of this");
    dim.size = extents[d] >= 0 || !split ? extents[d] : split->size;
    if (dim.size < 0) refuse(layout.name + ": the size of dimension " + std::to_string(d) + " is not known");
    dim.node_dim = split ? split->node_dim : -1;
    dim.parts = dim.node_dim >= 0 ? layout.on->nodes->size[dim.node_dim] : 1;
    if (layout.slotted(d) && (dim.align.shadow_low || dim.align.shadow_high))
      refuse(layout.name + ": dimension " + std::to_string(d) +
             " is cyclic, where neighbours lie on other nodes anyway: leave its shadow away, or make it `*`, "
             "the whole dimension");
  }
  check_fit(layout);
}

void find_memory(xacc_array& a) {
  xacc_layout& layout = *a.layout;
  layout.storage = &Runtime::get().allocate(layout.element_bytes, capacity_of(layout), layout.name);
  layout.reflected.clear();
  layout.version = xacc_layout::next_version();
  place_elements(a, layout.storage->window.data());
  if (Checks* checks = Runtime::get().checks()) checks->watch(layout);
}

}  // namespace
}  // namespace tca::xacc

void xacc_array_make(xacc_array* a, const char* name, size_t element_bytes, int type, int dims,
                     const int64_t* extents, const xacc_template* t, const xacc_align* align,
                     enum xacc_storage storage, void* given, const xacc_place* at) {
  guarded(at, [&] {
    if (a->layout && storage != XACC_GIVEN) return;  // static ones are made once
    xacc_array_leave(a);
    a->layout = new xacc_layout{name, element_bytes, t, {}, storage, type};
    for (int d = 0; d < dims; ++d) a->layout->dims.push_back({align[d], extents[d], -1, 1});
    if (storage == XACC_ALLOCATED) return;
    set_sizes(*a->layout, extents);
    if (storage == XACC_OWN) return find_memory(*a);
    a->layout->storage = Runtime::get().storage_at(given);
    place_elements(*a, given);
  });
}

void xacc_array_leave(xacc_array* a) {
  if (!a->layout) return;
  if (a->layout->kind == XACC_OWN && a->layout->storage) a->layout->storage->used = false;
  delete a->layout;
  *a = xacc_array{};
}

void* xmp_malloc(void* descriptor, ...) {
  auto* a = static_cast<xacc_array*>(descriptor);
  const std::size_t dims = a->layout ? a->layout->dims.size() : 0;
  std::vector<std::int64_t> extents;
  va_list list;
  va_start(list, descriptor);
  for (std::size_t d = 0; d < dims; ++d) extents.push_back(va_arg(list, int));
  va_end(list);
  guarded(nullptr, [&] {
    if (!a->layout) refuse("xmp_malloc: the array's align has not been executed yet");
    set_sizes(*a->layout, extents.data());
    find_memory(*a);
  });
  return a->base;
}

void xacc_free(void* memory) {
  Storage* storage = Runtime::started() ? Runtime::get().storage_at(memory) : nullptr;
  if (storage)
    storage->used = false;
  else
    std::free(memory);
}

size_t xacc_bytes(const xacc_array* a) {
  size_t bytes = a->layout->element_bytes;
  for (size_t d = 0; d < a->layout->dims.size(); ++d) bytes *= static_cast<size_t>(a->extent[d]);
  return bytes;
}
