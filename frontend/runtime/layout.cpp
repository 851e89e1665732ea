// Where the elements of a distributed array are.
#include <algorithm>

#include "runtime/runtime.hpp"

using namespace tca::xacc;

Span xacc_layout::owned(std::size_t d, const int* at) const {
  const xacc_dimension& dim = dims[d];
  if (dim.node_dim < 0) return {0, dim.size};
  // Of a cyclic dimension all nodes have as many slots, filled or not.
  const xacc_split& split = on->dim[dim.align.template_dim];
  if (cyclic(d)) return {0, (split.size + split.stride - 1) / split.stride * split.width};
  const Span part = part_of(on->dim[dim.align.template_dim], at[dim.node_dim], dim.parts);
  const Span own{std::max<std::int64_t>(part.begin - dim.align.offset, 0),
                 std::min(part.end - dim.align.offset, dim.size)};
  return own.size() > 0 ? own : Span{std::min(own.begin, dim.size), std::min(own.begin, dim.size)};
}

bool xacc_layout::cyclic(std::size_t d) const {
  return dims[d].node_dim >= 0 && on->dim[dims[d].align.template_dim].format == XACC_CYCLIC;
}

std::int64_t xacc_layout::extent(std::size_t d, const int* at) const {
  if (full(d)) return dims[d].size;
  return owned(d, at).size() + dims[d].align.shadow_low + dims[d].align.shadow_high;
}

std::string xacc_layout::describe() const {
  std::string text = std::to_string(element_bytes) + "@" + std::to_string(on->nodes->first);
  const auto add = [&](std::int64_t value) { text += "," + std::to_string(value); };
  for (int d = 0; d < on->nodes->dims; ++d) add(on->nodes->size[d]), add(on->nodes->ranks[d]);
  for (const xacc_dimension& dim : dims) {
    text += ";";
    add(dim.size), add(dim.align.offset), add(dim.align.shadow_low), add(dim.align.shadow_high),
        add(dim.node_dim);
    if (dim.node_dim < 0) continue;
    const xacc_split& split = on->dim[dim.align.template_dim];
    add(split.low), add(split.size), add(split.format), add(split.width);
    for (int p = 0; split.format == XACC_GBLOCK && p <= dim.parts; ++p) add(split.bounds[p]);
  }
  return text;
}

bool xacc_layout::full(std::size_t d) const { return dims[d].align.shadow_low == xacc_rest; }

bool xacc_layout::slotted(std::size_t d) const { return cyclic(d) && !full(d); }

std::int64_t xacc_layout::first(std::size_t d, const int* at) const {
  return full(d) || cyclic(d) ? 0 : owned(d, at).begin - dims[d].align.shadow_low;
}

std::int64_t xacc_layout::position(std::size_t d, std::int64_t index, const int* at) const {
  const xacc_align& align = dims[d].align;
  if (slotted(d)) return xacc_slot(&on->dim[align.template_dim], index + align.offset);
  return index - first(d, at);
}
