// What programs ask that were translated with -fcheck, at every subscript and where loops begin and end.
#include "runtime/check/checks.hpp"

using namespace tca::xacc;

namespace {

bool has(const xacc_layout& layout, std::size_t d, std::int64_t index) {
  const xacc_dimension& dim = layout.dims[d];
  const xacc_nodes& nodes = *layout.on->nodes;
  if (layout.slotted(d))
    return index >= 0 && index < dim.size &&
           owner_of(layout.on->dim[dim.align.template_dim], index + dim.align.offset, dim.parts) ==
               nodes.at[dim.node_dim];
  const std::int64_t at = layout.position(d, index, nodes.at);
  return at >= 0 && at < layout.extent(d, nodes.at);
}

[[noreturn]] void refuse_index(const xacc_layout& layout, std::size_t d, std::int64_t index) {
  const xacc_dimension& dim = layout.dims[d];
  const int rank = Runtime::get().world().rank();
  std::string text = "index " + std::to_string(index) + " of dimension " + std::to_string(d);
  if (index < 0 || index >= dim.size)
    refuse(text + " is outside of " + layout.name + ", which has " + std::to_string(dim.size) + " there");
  const Span own = layout.owned(d, layout.on->nodes->at);
  text += " is not on rank " + std::to_string(rank);
  if (own.size() > 0)
    text += ", which has " + std::to_string(own.begin) + " to " + std::to_string(own.end - 1) + " and " +
            std::to_string(dim.align.shadow_low) + " ghosts below and " +
            std::to_string(dim.align.shadow_high) + " above";
  if (dim.node_dim >= 0)
    text += "; node " +
            std::to_string(
                owner_of(layout.on->dim[dim.align.template_dim], index + dim.align.offset, dim.parts)) +
            " along that dimension has it";
  refuse(text);
}

}  // namespace

int64_t xacc_check(const xacc_array* a, int dim, int64_t index, const xacc_place* at) {
  if (a->layout && a->layout->storage && has(*a->layout, static_cast<std::size_t>(dim), index)) return index;
  guarded(at, [&] {
    if (!a->layout) refuse("the array has no memory yet");
    if (!has(*a->layout, static_cast<std::size_t>(dim), index))
      refuse_index(*a->layout, static_cast<std::size_t>(dim), index);
  });
  return index;
}

void* xacc_element(const xacc_array* a, int access, const int64_t* index, const xacc_place* at) {
  void* memory = nullptr;
  guarded(at, [&] {
    if (!a->layout) refuse("the array has no memory yet");
    for (std::size_t d = 0; d < a->layout->dims.size(); ++d) xacc_check(a, static_cast<int>(d), index[d], at);
    memory = Runtime::get().checks()->element(*a, index, access, *at);
  });
  return memory;
}

void* xacc_touch(const void* address, size_t bytes, int access, const xacc_place* at) {
  void* memory = nullptr;
  guarded(at,
          [&] { memory = Runtime::get().checks()->touch(const_cast<void*>(address), bytes, access, *at); });
  return memory;
}

xacc_scope xacc_scope_enter(int compute) {
  Runtime::get().checks()->enter(compute != 0);
  return {compute};
}

void xacc_scope_leave(xacc_scope* scope) { Runtime::get().checks()->leave(scope->compute != 0); }
