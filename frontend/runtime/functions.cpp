// The functions that programs call themselves: those of xmp.h and openacc.h.
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "runtime/runtime.hpp"
#include "tca/xacc/openacc.h"
#ifndef _XCALABLEMP
#define _XCALABLEMP 201701
#endif
#include "tca/xacc/xmp.h"

using namespace tca::xacc;

namespace {

int my_number() {
  const auto& ranks = Runtime::get().executing_ranks();
  const int rank = Runtime::get().world().rank();
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] == rank) return static_cast<int>(i);
  return -1;
}

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

}  // namespace

int xmpc_node_num(void) { return my_number(); }
int xmp_node_num(void) { return my_number() + 1; }
int xmpc_all_node_num(void) { return Runtime::get().world().rank(); }
int xmp_all_node_num(void) { return xmpc_all_node_num() + 1; }
int xmp_num_nodes(void) { return static_cast<int>(Runtime::get().executing_ranks().size()); }
int xmp_all_num_nodes(void) { return Runtime::get().world().size(); }
int xmpc_this_image(void) { return xmpc_node_num(); }
int xmp_this_image(void) { return xmp_node_num(); }
int xmp_num_images(void) { return xmp_num_nodes(); }

double xmp_wtime(void) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}
double xmp_wtick(void) { return 1e-9; }
void xmp_exit(int status) { std::exit(status); }
void xmp_free(void* descriptor) {
  auto* a = static_cast<xacc_array*>(descriptor);
  if (a->layout && a->layout->storage) a->layout->storage->used = false;
  a->base = a->origin = nullptr;
}

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
  return set(d, width, d ? d->align.shadow_low : 0);
}
int xmp_array_ushadow(void* array, int dim, int* width) {
  const auto* d = dimension(array, dim);
  return set(d, width, d ? d->align.shadow_high : 0);
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

int xacc_processor_name(char* name, int* length) {
  gethostname(name, 255);
  name[255] = '\0';
  *length = static_cast<int>(std::char_traits<char>::length(name));
  return 0;
}

int acc_get_num_devices(acc_device_t) { return 1; }
void acc_set_device_num(int, acc_device_t) {}
int acc_get_device_num(acc_device_t) { return 0; }
acc_device_t acc_get_device_type(void) { return acc_device_host; }
void acc_set_device_type(acc_device_t) {}
void acc_init(acc_device_t) {}
void acc_shutdown(acc_device_t) {}
int acc_async_test(int) { return 1; }
void acc_async_wait(int) {}
void acc_async_wait_all(void) {}
