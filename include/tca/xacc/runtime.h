/// @file
/// What translated XcalableACC programs call (docs/xacc.md). `tca xacc cc` puts it in front of every
/// source; a program has no reason to. Everything here counts from 0 and in C's order, whatever the
/// directive said.
#ifndef TCA_XACC_RUNTIME_H
#define TCA_XACC_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef __CUDACC__
#define XACC_FUNCTION static inline __host__ __device__
#else
#define XACC_FUNCTION static inline
#endif

#define XACC_DIMS 7
/// In a subscript: every node along this dimension.
static const int64_t xacc_star __attribute__((unused)) = INT64_MIN;
/// In a subscript: from the beginning, and up to the end. As a size of nodes: as many as there are ranks
/// left.
static const int64_t xacc_rest __attribute__((unused)) = INT64_MAX;

/// A directive in the user's source, for messages.
typedef struct xacc_place {
  const char* file;
  int line;
  const char* directive;
} xacc_place;

/// The same for a directive that is executed often, with what the runtime has set up for it there. It is
/// static and begins as the place and a zero, so that from the second time on only a check is needed
/// whether everything is unchanged.
typedef struct xacc_site {
  xacc_place place;
  void* kept;  ///< the runtime's
} xacc_site;

/// Ranks in a grid, row by row. `at` is where this rank is; it is in none of them if `inside` is 0.
typedef struct xacc_nodes {
  const char* name;
  int dims;
  int inside;
  int total;
  int size[XACC_DIMS];
  int at[XACC_DIMS];
  int ranks[XACC_DIMS];  ///< from one node to the next along a dimension
  int first;             ///< the rank of the first
  /// Those that they are a part of, or NULL, and which of them along each of their dimensions.
  const struct xacc_nodes* of;
  int of_base[XACC_DIMS], of_count[XACC_DIMS], of_step[XACC_DIMS];
  int of_star[XACC_DIMS];  ///< whether it is each rank's own, by `*`
} xacc_nodes;

enum xacc_format { XACC_NONE, XACC_BLOCK, XACC_CYCLIC, XACC_GBLOCK };

/// One dimension of a template, and the part of it that this rank owns: `begin` up to `end`; for cyclic
/// ones the blocks of `width` that begin at `begin` and are `stride` apart.
typedef struct xacc_split {
  int64_t low, size;  ///< size -1: to be fixed
  int format;
  int node_dim;  ///< -1: not distributed
  int64_t width, stride;
  int64_t begin, end;
  const int64_t* bounds;  ///< of gblock: where each node's part begins, and the end
} xacc_split;

typedef struct xacc_template {
  const char* name;
  const xacc_nodes* nodes;  ///< NULL: not distributed yet
  int dims;
  xacc_split dim[XACC_DIMS];
} xacc_template;

/// A distributed array. `base` is the first element of this rank's part, ghosts included, and `origin` where
/// element 0, 0, ... would be; rows of dimension d have `extent[d]` elements here.
typedef struct xacc_array {
  void* base;
  void* origin;
  int64_t extent[XACC_DIMS];
  struct xacc_layout* layout;  ///< of the runtime
} xacc_array;

/// How an array's dimension is aligned with its template.
typedef struct xacc_align {
  int template_dim;  ///< -1: on none
  int64_t offset;
  int64_t shadow_low, shadow_high;
} xacc_align;

/// Called before xacc_start, in a program that was translated with -fcheck.
void xacc_checked(void);
void xacc_start(void);
/// Where main returns; `unused` makes it a cleanup.
void xacc_end_of_main(const int* unused);
void xacc_register(void (*set_up)(void));

/// Sizes that are xacc_rest are left open. `of` and its subscripts are NULL if the nodes are all ranks.
void xacc_nodes_make(xacc_nodes* nodes, const char* name, int dims, const int64_t* sizes,
                     const xacc_place* at);
void xacc_nodes_part(xacc_nodes* nodes, const char* name, int dims, const int64_t* sizes,
                     const xacc_nodes* of, const int64_t* subscripts, const xacc_place* at);
/// `bounds` has low and size of each dimension; sizes of -1 are fixed later.
void xacc_template_make(xacc_template* t, const char* name, int dims, const int64_t* bounds,
                        const xacc_place* at);
void xacc_template_fix(xacc_template* t, const int64_t* bounds, const xacc_place* at);
/// `formats` has a format and its width (0: the default) for each dimension; `sizes` those of gblock, or
/// NULL.
void xacc_distribute(xacc_template* t, const xacc_nodes* nodes, const int64_t* formats,
                     const int* const* sizes, const xacc_place* at);

enum xacc_storage { XACC_OWN, XACC_ALLOCATED, XACC_GIVEN };

/// Makes an array. `storage` says where its memory comes from: from the runtime now, from xmp_malloc later,
/// or, as `given`, from the caller of a function whose parameter it is. `site` tells arrays of different
/// declarations apart; `type` is a xacc_type.
void xacc_array_make(xacc_array* a, const char* name, size_t element_bytes, int type, int dims,
                     const int64_t* extents, const xacc_template* t, const xacc_align* align,
                     enum xacc_storage storage, void* given, const xacc_place* at);
/// Lets other ranks access an array while this one does something else. All ranks call it, for an array
/// that lives as long as the program.
void xacc_array_share(xacc_array* a, const xacc_place* at);
void xacc_array_leave(xacc_array* a);
void* xmp_malloc(void* descriptor, ...);
/// Replaces the program's `free`: memory from xmp_malloc goes back to the runtime, any other to the C
/// library.
void xacc_free(void* memory);

/// Which nodes a directive means. Made by the calls below; subscripts are base, extent and step of each
/// dimension.
typedef struct xacc_on {
  const xacc_nodes* nodes;  ///< NULL: those that execute
  int64_t base[XACC_DIMS], count[XACC_DIMS], step[XACC_DIMS];
  int whole[XACC_DIMS];  ///< named by `*`
} xacc_on;
xacc_on xacc_on_nodes(const xacc_nodes* nodes, const int64_t* subscripts, const xacc_place* at);
xacc_on xacc_on_template(const xacc_template* t, const int64_t* subscripts, const xacc_place* at);
xacc_on xacc_on_all(void);

typedef struct xacc_task {
  int inside;
  int entered;
} xacc_task;
xacc_task xacc_task_enter(xacc_on on, const xacc_place* at);
void xacc_task_leave(xacc_task* task);

/// Bits of `flags`.
enum {
  XACC_DEVICE = 1,
  XACC_ORTHOGONAL = 2,
  XACC_IN = 4,
  XACC_OUT = 8,
  XACC_TO_DEVICE = 16,
  XACC_FROM_DEVICE = 32
};
/// `widths` has low, high and periodic of each dimension; NULL is the whole shadow. `async` is -1, or what
/// wait_async names.
void xacc_reflect(xacc_array* a, const int64_t* widths, int flags, int64_t async, xacc_site* site);
void xacc_reflect_init(xacc_array* a, const int64_t* widths, int flags, const xacc_place* at);
void xacc_reflect_do(xacc_array* a, int flags, int64_t async, const xacc_place* at);
/// Adds ghosts to the elements that they stand for; `type` is a xacc_type.
void xacc_reduce_shadow(xacc_array* a, const int64_t* widths, int type, int64_t async, const xacc_place* at);
void xacc_barrier(xacc_on on, int flags, xacc_site* site);
void xacc_wait_async(int64_t id, const xacc_place* at);

enum xacc_type {
  XACC_FLOAT,
  XACC_DOUBLE,
  XACC_LONG_DOUBLE,
  XACC_INT8,
  XACC_INT16,
  XACC_INT32,
  XACC_INT64,
  XACC_UINT8,
  XACC_UINT16,
  XACC_UINT32,
  XACC_UINT64,
  XACC_OTHER,  ///< of what comes from here on nothing is reduced
  XACC_COMPLEX_FLOAT,
  XACC_COMPLEX_DOUBLE
};
enum xacc_operation {
  XACC_SUM,
  XACC_PRODUCT,
  XACC_MAX,
  XACC_MIN,
  XACC_BIT_AND,
  XACC_BIT_OR,
  XACC_BIT_XOR,
  XACC_AND,
  XACC_OR
};
void xacc_reduce(void* values, int64_t count, int type, int operation, xacc_on on, int flags,
                 xacc_site* site);
void xacc_reduce_array(xacc_array* a, int type, int operation, xacc_on on, int flags, const xacc_place* at);
void xacc_bcast(void* values, int64_t bytes, const xacc_on* from, xacc_on on, int flags, xacc_site* site);

/// A section: of a distributed array, or of memory that every rank has separately.
typedef struct xacc_section {
  xacc_array* array;  ///< or NULL
  void* memory;
  size_t element_bytes;
  int dims;
  int64_t extent[XACC_DIMS];  ///< of `memory`
  int64_t base[XACC_DIMS], count[XACC_DIMS], step[XACC_DIMS];
} xacc_section;
/// Sections of memory that every rank has separately.
void xacc_bcast_section(const xacc_section* what, const xacc_on* from, xacc_on on, int flags,
                        const xacc_place* at);
/// If several nodes have the greatest or least value, `choice` says whose `places` count: the first node's,
/// or those that are first or last by their integers.
enum xacc_choice { XACC_FIRST_NODE, XACC_FIRST_PLACE, XACC_LAST_PLACE };
void xacc_reduce_place(void* value, int type, int operation, int choice, const xacc_section* const* places,
                       int count, xacc_on on, const xacc_place* at);
void xacc_gmove(const xacc_section* to, const xacc_section* from, int flags, xacc_site* site);

/// Coarrays: `memory` becomes this image's, zeroed. Sections are of that memory, here and at image `image`.
void xacc_coarray_make(void** memory, const char* name, size_t bytes, const xacc_place* at);
void xacc_coarray_put(const xacc_section* to, int64_t image, const xacc_section* from, const xacc_place* at);
void xacc_coarray_get(const xacc_section* to, const xacc_section* from, int64_t image, const xacc_place* at);
/// Returns a copy of one element, which lasts for an expression of 16 of them.
const void* xacc_coarray_element(const xacc_section* from, int64_t image, const xacc_place* at);
/// An image of -1 is this one.
void xacc_lock(const void* object, int64_t image, const xacc_place* at);
void xacc_unlock(const void* object, int64_t image, const xacc_place* at);
void xacc_post(xacc_on to, int64_t tag, const xacc_place* at);
/// `from` is NULL for a post from anybody, a tag of -1 is any tag.
void xacc_wait_post(const xacc_on* from, int64_t tag, const xacc_place* at);

enum xacc_clause {
  XACC_COPY,
  XACC_COPYIN,
  XACC_COPYOUT,
  XACC_CREATE,
  XACC_PRESENT,
  XACC_DELETE,
  XACC_UPDATE_HOST,
  XACC_UPDATE_DEVICE
};
/// What a data clause names.
typedef struct xacc_item {
  const char* name;
  int clause;
  void* address;
  size_t bytes;
  const void* variable;  ///< of a section: where its array begins
} xacc_item;
/// A data region: what was entered leaves with the block, however that ends.
typedef struct xacc_data {
  const xacc_item* items;
  int count;
  int64_t queue;
  const xacc_place* at;
} xacc_data;
/// Queues of the device that are not numbers of `async(n)`: that of an `async` without one, and the one
/// after which the host waits.
enum { XACC_NOVAL = -1, XACC_SYNC = -2 };
xacc_data xacc_data_enter(const xacc_item* items, int count, int64_t queue, const xacc_place* at);
void xacc_data_leave(xacc_data* data);
void xacc_enter_data(const xacc_item* items, int count, int64_t queue, const xacc_place* at);
void xacc_exit_data(const xacc_item* items, int count, int64_t queue, const xacc_place* at);
void xacc_update(const xacc_item* items, int count, int64_t queue, const xacc_place* at);
/// Ends the program if an item is not on the device.
void xacc_present(const xacc_item* items, int count, xacc_site* site);

/// An array as a kernel sees it: its element 0, 0, ... on the device, and how many elements its rows have.
typedef struct xacc_rows {
  void* data;
  int32_t pitch[XACC_DIMS - 1];
} xacc_rows;
/// End the program if the array is not on the device. `extents` are those of all dimensions but the first.
void* xacc_device_address(const char* name, const void* host, const xacc_place* at);
/// The same array with its memory on the device, for code in host_data. Both wait for regions still running
/// there that the host need not otherwise wait for.
xacc_array xacc_array_on_device(const xacc_array* a, const xacc_place* at);
xacc_rows xacc_rows_of_array(const xacc_array* a, const xacc_place* at);
xacc_rows xacc_rows_of(const char* name, const void* memory, int dims, const int64_t* extents,
                       const xacc_place* at);

/// A variable that a region's reduction adds to: the host's, or with `resident` the device's copy. With
/// `over` it is then also reduced among these nodes, by `operation`, a xacc_operation, if a directive at
/// `site` says so; `type` is a xacc_type.
typedef struct xacc_result {
  void* variable;
  size_t bytes;
  int resident;
  const xacc_on* over;
  int type, operation;
  xacc_site* site;
} xacc_result;
/// A compute region as a kernel. `trips` says how many iterations its loops that threads share have, the
/// innermost first: 1 for loops that do not exist, and -1 if it is not known beforehand.
typedef struct xacc_launch {
  const void* kernel;
  int64_t trips[3];
  int64_t gangs, vector;  ///< as asked for; 0: as the runtime likes
  int reductions;
  const xacc_result* results;
  int64_t queue;
  const xacc_place* at;
} xacc_launch;
/// Devices of every node: `count` from number `base` on; -1: all.
void xacc_devices(const char* name, int64_t base, int64_t count, const xacc_place* at);
void xacc_on_device(const char* name, int64_t number, const xacc_place* at);
/// Waits for all that the rank's device has to do.
void xacc_barrier_device(const xacc_place* at);
/// What of the scratch memory of a region's reductions one value has.
enum { xacc_slot_bytes = 16 };
/// Threads of a block, if the program does not say.
enum { xacc_usual_threads = 128 };
/// Runs a region after what its queue has, with pointers to the kernel's parameters; the first is the
/// runtime's. Returns whether its last block also executes the statement that follows it.
int xacc_run(const xacc_launch* how, void** values);
/// Says that this program has regions for GPUs, before it starts.
void xacc_use_gpu(void);
/// The device's queues: `other` before `queue`, and the host after one or all of them.
void xacc_order_queues(int64_t queue, int64_t other, const xacc_place* at);
void xacc_wait_queue(int64_t queue, const xacc_place* at);
void xacc_wait_queues(const xacc_place* at);
/// Makes rank 0 print the puts of each exchange when it is set up.
void xacc_explain(void);
/// Returns `index`, of dimension `dim`; ends the program if this rank has no such element, not even as a
/// ghost.
int64_t xacc_check(const xacc_array* a, int dim, int64_t index, const xacc_place* at);
/// Bits of `access`; 0: only its address is taken.
enum { XACC_READ = 1, XACC_WRITE = 2 };
/// Returns where the element at an index is for code that accesses it here: on the device within a compute
/// region, if it is there. Ends the program as xacc_check does, and if the copy that is read is older than
/// the other one.
void* xacc_element(const xacc_array* a, int access, const int64_t* index, const xacc_place* at);
/// The same for memory that every rank has separately.
void* xacc_touch(const void* address, size_t bytes, int access, const xacc_place* at);
/// A distributed loop or a compute region, as long as it runs.
typedef struct xacc_scope {
  int compute;
} xacc_scope;
xacc_scope xacc_scope_enter(int compute);
void xacc_scope_leave(xacc_scope* scope);
/// Bytes of this rank's part.
size_t xacc_bytes(const xacc_array* a);

/// Where the element at an index of a cyclic dimension is among those that its node has.
XACC_FUNCTION int64_t xacc_slot(const xacc_split* split, int64_t index) {
  return (index - split->low) / split->stride * split->width + (index - split->low) % split->width;
}
/// The first of `from`, `from` + `step`, ... at which this rank has index `offset` + i of a cyclic dimension.
XACC_FUNCTION int64_t xacc_next(const xacc_split* split, int64_t offset, int64_t from, int64_t step) {
  if (split->begin >= split->end) return INT32_MAX;
  for (;;) {
    int64_t at = (from + offset - split->begin) % split->stride;
    if (at < 0) at += split->stride;
    if (at < split->width || from + offset >= split->end) return from;
    from += (split->stride - at + step - 1) / step * step;
  }
}

/// The least value of a variable.
XACC_FUNCTION int64_t xacc_least(int is_unsigned) { return is_unsigned ? 0 : INT64_MIN; }
XACC_FUNCTION int64_t xacc_min(int64_t a, int64_t b) { return a < b ? a : b; }
XACC_FUNCTION int64_t xacc_max(int64_t a, int64_t b) { return a > b ? a : b; }
/// The first of `from`, `from` + `step`, ... that is not below `low`, for positive steps.
XACC_FUNCTION int64_t xacc_first(int64_t from, int64_t low, int64_t step) {
  return from >= low ? from : step == 1 ? low : from + (low - from + step - 1) / step * step;
}
/// The same downwards: the first that is below `high`; `step` is the distance, and positive.
XACC_FUNCTION int64_t xacc_first_down(int64_t from, int64_t high, int64_t step) {
  return from < high ? from : step == 1 ? high - 1 : from - (from - high + step) / step * step;
}
/// How many iterations a loop from `from` up to `to` has.
XACC_FUNCTION int64_t xacc_trips(int64_t from, int64_t to, int64_t step) {
  return to > from ? (to - from + step - 1) / step : 0;
}

#ifdef __cplusplus
}
#endif

#endif
