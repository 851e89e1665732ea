// Templates: which indices each node owns.
#include <algorithm>

#include "runtime/runtime.hpp"

namespace tca::xacc {
namespace {

// What of a dimension this rank owns.
void find_own(xacc_split& split, const xacc_nodes& nodes) {
  split.begin = split.low;
  split.end = split.low + split.size;
  if (split.node_dim >= 0) {
    const Span own = part_of(split, nodes.at[split.node_dim], nodes.size[split.node_dim]);
    split.begin = own.begin;
    split.end = own.end;
  }
  if (!nodes.inside) split.end = split.begin;
}

void set_width(xacc_template& t, xacc_split& split, std::int64_t given) {
  const int parts = t.nodes->size[split.node_dim];
  if (split.format == XACC_CYCLIC) {
    split.width = std::max<std::int64_t>(given, 1);
    split.stride = split.width * parts;
    return;
  }
  split.width = given > 0 ? given : (split.size + parts - 1) / parts;
  if (given > 0 && given * parts < split.size)
    refuse("block(" + std::to_string(given) + ") on " + std::to_string(parts) + " nodes is less than the " +
           std::to_string(split.size) + " indices of template " + t.name + ": give at least " +
           std::to_string((split.size + parts - 1) / parts));
}

void share_out(xacc_template& t) {
  if (!t.nodes) return;
  for (int d = 0; d < t.dims; ++d) {
    xacc_split& split = t.dim[d];
    if (split.size < 0 || (split.format == XACC_GBLOCK && !split.bounds)) continue;  // to be fixed
    if (split.node_dim >= 0 && split.format != XACC_GBLOCK)
      set_width(t, split, split.format == XACC_BLOCK ? split.stride : split.width);
    find_own(split, *t.nodes);
  }
}

const std::int64_t* bounds_of(const xacc_template& t, const xacc_split& split, const int* sizes) {
  const int parts = t.nodes->size[split.node_dim];
  auto* bounds = new std::int64_t[static_cast<std::size_t>(parts) + 1];  // as long as the program
  bounds[0] = split.low;
  for (int p = 0; p < parts; ++p) bounds[p + 1] = bounds[p] + sizes[p];
  if (split.size >= 0 && bounds[parts] != split.low + split.size)
    refuse("gblock: the sizes make " + std::to_string(bounds[parts] - split.low) + ", and template " +
           t.name + " has " + std::to_string(split.size) + " indices");
  return bounds;
}

}  // namespace

int owner_of(const xacc_split& split, std::int64_t index, int parts) {
  const std::int64_t i = index - split.low;
  if (split.format == XACC_CYCLIC) return static_cast<int>(i / split.width % parts);
  if (split.format == XACC_GBLOCK) {
    const auto* end = split.bounds + parts + 1;
    return static_cast<int>(std::upper_bound(split.bounds, end, index) - split.bounds) - 1;
  }
  return static_cast<int>(i / std::max<std::int64_t>(split.width, 1));
}

Span part_of(const xacc_split& split, int part, int parts) {
  const std::int64_t end = split.low + split.size;
  if (split.format == XACC_GBLOCK) return {split.bounds[part], split.bounds[part + 1]};
  if (split.format == XACC_CYCLIC) return {split.low + part * split.width, end};
  (void)parts;
  const std::int64_t begin = std::min(split.low + part * split.width, end);
  return {begin, std::min(begin + split.width, end)};
}

}  // namespace tca::xacc

using namespace tca::xacc;

void xacc_template_make(xacc_template* t, const char* name, int dims, const int64_t* bounds,
                        const xacc_place* at) {
  guarded(at, [&] {
    *t = xacc_template{};
    t->name = name;
    t->dims = dims;
    for (int d = 0; d < dims; ++d) {
      t->dim[d].node_dim = -1;
      t->dim[d].low = bounds[2 * d];
      t->dim[d].size = bounds[2 * d + 1];
      if (t->dim[d].size < -1)
        refuse("template " + std::string(name) + ": dimension " + std::to_string(d) + " has " +
               std::to_string(t->dim[d].size) + " indices");
    }
  });
}

void xacc_template_fix(xacc_template* t, const int64_t* bounds, const xacc_place* at) {
  guarded(at, [&] {
    for (int d = 0; d < t->dims; ++d) {
      t->dim[d].low = bounds[2 * d];
      t->dim[d].size = bounds[2 * d + 1];
    }
    share_out(*t);
  });
}

void xacc_distribute(xacc_template* t, const xacc_nodes* nodes, const int64_t* formats,
                     const int* const* sizes, const xacc_place* at) {
  guarded(at, [&] {
    t->nodes = nodes;
    int node_dim = 0;
    for (int d = 0; d < t->dims; ++d) {
      xacc_split& split = t->dim[d];
      split.format = static_cast<int>(formats[2 * d]);
      split.node_dim = split.format == XACC_NONE ? -1 : node_dim++;
      // The width as given is kept where the size may still change: of blocks in `stride`, which they have
      // not.
      (split.format == XACC_BLOCK ? split.stride : split.width) = formats[2 * d + 1];
      if (split.format == XACC_GBLOCK && sizes[d]) split.bounds = bounds_of(*t, split, sizes[d]);
    }
    share_out(*t);
  });
}
