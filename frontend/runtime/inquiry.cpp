// The functions of xmp.h that tell what directives have declared. Dimensions of arrays count from 1 in the order of C;
// those of templates and nodes from 1 too, the last of C first. They return 0 where there is something to tell.
#include <algorithm>

#include "runtime/runtime.hpp"
#include "runtime/xmp.hpp"

using namespace tca::xacc;

namespace {

// The layout of a dimension that counts from 1; null where there is none.
const xacc_dimension* dimension(void* array, int dim) {
  const auto* a = static_cast<const xacc_array*>(array);
  const bool there = a->layout && dim >= 1 && dim <= static_cast<int>(a->layout->dims.size());
  return there ? &a->layout->dims[static_cast<std::size_t>(dim - 1)] : nullptr;
}

Span owned(void* array, int dim) {
  const auto* a = static_cast<const xacc_array*>(array);
  return a->layout->owned(static_cast<std::size_t>(dim - 1), a->layout->on->nodes->at);
}

int set(bool there, int* to, std::int64_t value) {
  if (there) *to = static_cast<int>(value);
  return there ? 0 : 1;
}

const xacc_template& as_template(void* t) { return *static_cast<const xacc_template*>(t); }
const xacc_nodes& as_nodes(void* nodes) { return *static_cast<const xacc_nodes*>(nodes); }

// A dimension of a template; null where there is none.
const xacc_split* split(void* t, int dim) {
  const xacc_template& of = as_template(t);
  return dim >= 1 && dim <= of.dims ? &of.dim[of.dims - dim] : nullptr;
}

std::int64_t extent(void* array, int dim) { return static_cast<const xacc_array*>(array)->extent[dim - 1]; }

// How many elements lie in front of the first that this rank owns.
std::int64_t shadow_low(void* array, int dim) {
  const auto& layout = *static_cast<const xacc_array*>(array)->layout;
  const auto d = static_cast<std::size_t>(dim - 1);
  return layout.cyclic(d) ? 0 : owned(array, dim).begin - layout.first(d, layout.on->nodes->at);
}

// The first index of a dimension that this rank owns.
std::int64_t first_own(void* array, int dim) {
  const xacc_dimension& d = *dimension(array, dim);
  const auto& layout = *static_cast<const xacc_array*>(array)->layout;
  if (!layout.cyclic(static_cast<std::size_t>(dim - 1))) return owned(array, dim).begin;
  return std::max<std::int64_t>(layout.on->dim[d.align.template_dim].begin - d.align.offset, 0);
}

}  // namespace

int xmp_array_ndims(void* array, int* dims) {
  const auto* a = static_cast<const xacc_array*>(array);
  return set(a->layout != nullptr, dims, a->layout ? static_cast<std::int64_t>(a->layout->dims.size()) : 0);
}
int xmp_array_lbound(void* array, int dim, int* bound) { return set(dimension(array, dim), bound, 0); }
int xmp_array_ubound(void* array, int dim, int* bound) {
  const auto* d = dimension(array, dim);
  return set(d, bound, d ? d->size - 1 : 0);
}
size_t xmp_array_type_size(void* array) {
  return static_cast<const xacc_array*>(array)->layout->element_bytes;
}
int xmp_array_gcllbound(void* array, int dim) {
  return dimension(array, dim) ? static_cast<int>(owned(array, dim).begin) : -1;
}
int xmp_array_gclubound(void* array, int dim) {
  return dimension(array, dim) ? static_cast<int>(owned(array, dim).end - 1) : -1;
}
int xmp_array_lshadow(void* array, int dim, int* width) {
  const auto* d = dimension(array, dim);
  return set(d, width, d ? shadow_low(array, dim) : 0);
}
int xmp_array_ushadow(void* array, int dim, int* width) {
  const auto* d = dimension(array, dim);
  return set(d, width, d ? extent(array, dim) - owned(array, dim).size() - shadow_low(array, dim) : 0);
}
int xmp_nodes_index(void* nodes, int dim, int* index) {
  const auto* n = static_cast<const xacc_nodes*>(nodes);
  const bool there = dim >= 1 && dim <= n->dims;
  return set(there, index, there ? n->at[n->dims - dim] + 1 : 0);
}
int xmp_nodes_size(void* nodes, int dim, int* size) {
  const auto* n = static_cast<const xacc_nodes*>(nodes);
  const bool there = dim >= 1 && dim <= n->dims;
  return set(there, size, there ? n->size[n->dims - dim] : 0);
}

int xmp_array_lsize(void* array, int dim, int* size) {
  return set(dimension(array, dim), size, dimension(array, dim) ? extent(array, dim) : 0);
}
int xmp_array_laddr(void* array, void** address) {
  *address = static_cast<const xacc_array*>(array)->base;
  return *address ? 0 : 1;
}
int xmp_array_lbound_global(void* array, int dim, int* index) {
  const bool there = dimension(array, dim) && owned(array, dim).size() > 0;
  return set(there, index, there ? first_own(array, dim) : 0);
}
int xmp_array_gtol(void* array, int dim, int global, int* local) {
  const auto* a = static_cast<const xacc_array*>(array);
  const bool there = dimension(array, dim);
  const auto d = static_cast<std::size_t>(dim - 1);
  return set(there, local, there ? a->layout->position(d, global, a->layout->on->nodes->at) : 0);
}
int xmp_align_axis(void* array, int dim, int* axis) {
  const xacc_dimension* d = dimension(array, dim);
  const bool there = d && d->align.template_dim >= 0;
  const auto* a = static_cast<const xacc_array*>(array);
  return set(there, axis, there ? a->layout->on->dims - d->align.template_dim : 0);
}
int xmp_align_offset(void* array, int dim, int* offset) {
  const xacc_dimension* d = dimension(array, dim);
  const bool there = d && d->align.template_dim >= 0;
  return set(there, offset, there ? d->align.offset : 0);
}
int xmp_align_replicated(void* array, int dim, int* replicated) {
  const auto* a = static_cast<const xacc_array*>(array);
  if (!a->layout || dim < 1 || dim > a->layout->on->dims) return 1;
  const int wanted = a->layout->on->dims - dim;
  const auto& dims = a->layout->dims;
  return set(true, replicated, std::none_of(dims.begin(), dims.end(), [&](const xacc_dimension& d) {
               return d.align.template_dim == wanted;
             }));
}
int xmp_align_template(void* array, xmp_desc_t* t) {
  const auto* a = static_cast<const xacc_array*>(array);
  if (!a->layout) return 1;
  *t = const_cast<xacc_template*>(a->layout->on);
  return 0;
}

int xmp_template_fixed(void* t, int* fixed) {
  const xacc_template& of = as_template(t);
  return set(true, fixed,
             std::all_of(of.dim, of.dim + of.dims, [](const xacc_split& s) { return s.size >= 0; }));
}
int xmp_template_ndims(void* t, int* dims) { return set(true, dims, as_template(t).dims); }
int xmp_template_lbound(void* t, int dim, int* bound) {
  const xacc_split* s = split(t, dim);
  return set(s, bound, s ? s->low : 0);
}
int xmp_template_ubound(void* t, int dim, int* bound) {
  const xacc_split* s = split(t, dim);
  return set(s && s->size >= 0, bound, s ? s->low + s->size - 1 : 0);
}
int xmp_dist_format(void* t, int dim, int* format) {
  static constexpr int formats[] = {XMP_NOT_DISTRIBUTED, XMP_BLOCK, XMP_CYCLIC, XMP_GBLOCK};
  const xacc_split* s = split(t, dim);
  return set(s, format, s ? formats[s->format] : 0);
}
int xmp_dist_blocksize(void* t, int dim, int* size) {
  const xacc_split* s = split(t, dim);
  const bool there = s && (s->format == XACC_BLOCK || s->format == XACC_CYCLIC);
  return set(there, size, there ? s->width : 0);
}
int xmp_dist_gblockmap(void* t, int dim, int* map) {
  const xacc_split* s = split(t, dim);
  if (!s || s->format != XACC_GBLOCK || !s->bounds) return 1;
  for (int p = 0; p < as_template(t).nodes->size[s->node_dim]; ++p)
    map[p] = static_cast<int>(s->bounds[p + 1] - s->bounds[p]);
  return 0;
}
int xmp_dist_axis(void* t, int dim, int* axis) {
  const xacc_split* s = split(t, dim);
  const bool there = s && s->node_dim >= 0;
  return set(there, axis, there ? as_template(t).nodes->dims - s->node_dim : 0);
}
int xmp_dist_nodes(void* t, xmp_desc_t* nodes) {
  *nodes = const_cast<xacc_nodes*>(as_template(t).nodes);
  return *nodes ? 0 : 1;
}

int xmp_nodes_ndims(void* nodes, int* dims) { return set(true, dims, as_nodes(nodes).dims); }
int xmp_nodes_equiv(void* nodes, xmp_desc_t* of, int* low, int* high, int* step) {
  const xacc_nodes& n = as_nodes(nodes);
  if (!n.of) return 1;
  *of = const_cast<xacc_nodes*>(n.of);
  for (int d = 0; d < n.of->dims; ++d) {
    const int c = n.of->dims - 1 - d;
    low[d] = n.of_base[c] + 1;
    high[d] = n.of_base[c] + (n.of_count[c] - 1) * n.of_step[c] + 1;
    step[d] = n.of_step[c];
  }
  return 0;
}
