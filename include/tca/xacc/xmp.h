/// @file
/// The functions of XcalableMP in C. Without `tca xacc cc` a program that includes it is serial: it has
/// one node, and its directives are comments to the compiler.
#ifndef TCA_XACC_XMP_H
#define TCA_XACC_XMP_H

#include <stddef.h>

#ifdef _XCALABLEMP

#ifdef __cplusplus
extern "C" {
#endif

typedef void* xmp_desc_t;

/// The number of this rank among those that execute, from 1; and from 0.
int xmp_node_num(void);
int xmpc_node_num(void);
int xmp_all_node_num(void);
int xmpc_all_node_num(void);
int xmp_num_nodes(void);
int xmp_all_num_nodes(void);
int xmp_this_image(void);
int xmpc_this_image(void);
int xmp_num_images(void);
/// An object of `lock` and `unlock`, in a coarray.
typedef struct xmp_lock_t {
  int of_the_runtime;
} xmp_lock_t;
/// Images wait for all, for one and for some of each other; what they have put before is then in place.
/// `status` may be NULL, and becomes 0. Images count from 0.
void xmp_sync_all(int* status);
void xmp_sync_images_all(int* status);
void xmp_sync_image(int image, int* status);
void xmp_sync_images(int count, int* images, int* status);
/// Afterwards everything that this image has put is in place.
void xmp_sync_memory(int* status);
/// Sets an element of any image's coarray atomically, and reads it: `xmp_atomic_define(a[1]:[0], 5)` and
/// `xmp_atomic_ref(&value, a[1]:[0])`, as statements.
#define xmp_atomic_define(atom, value) atom = (value)
#define xmp_atomic_ref(value, atom) *(value) = atom
/// Seconds since some fixed moment, and between two ticks of that clock.
double xmp_wtime(void);
double xmp_wtick(void);
void xmp_exit(int status);
void* xmp_malloc(void* descriptor, ...);
void xmp_free(void* descriptor);
int xmp_array_ndims(void* array, int* dims);
int xmp_array_lbound(void* array, int dim, int* bound);
int xmp_array_ubound(void* array, int dim, int* bound);
size_t xmp_array_type_size(void* array);
/// The first and last index that this rank owns; dimensions count from 1.
int xmp_array_gcllbound(void* array, int dim);
int xmp_array_gclubound(void* array, int dim);
int xmp_array_lshadow(void* array, int dim, int* width);
int xmp_array_ushadow(void* array, int dim, int* width);
/// The number of elements of this rank's part along a dimension, and where the first is; ghosts included.
int xmp_array_lsize(void* array, int dim, int* size);
int xmp_array_laddr(void* array, void** address);
/// The first index that this rank owns, and the position of an index among its elements.
int xmp_array_lbound_global(void* array, int dim, int* index);
int xmp_array_gtol(void* array, int dim, int global, int* local);
/// How an array is aligned with its template: with which dimension, with what offset, and whether each node
/// along a dimension of the template has a copy.
int xmp_align_axis(void* array, int dim, int* axis);
int xmp_align_offset(void* array, int dim, int* offset);
int xmp_align_replicated(void* array, int template_dim, int* replicated);
int xmp_align_template(void* array, xmp_desc_t* t);
/// Dimensions of templates and nodes count from 1, the last one of C first.
int xmp_template_fixed(void* t, int* fixed);
int xmp_template_ndims(void* t, int* dims);
int xmp_template_lbound(void* t, int dim, int* bound);
int xmp_template_ubound(void* t, int dim, int* bound);
enum { XMP_NOT_DISTRIBUTED = 2100, XMP_BLOCK, XMP_CYCLIC, XMP_GBLOCK };
int xmp_dist_format(void* t, int dim, int* format);
int xmp_dist_blocksize(void* t, int dim, int* size);
int xmp_dist_gblockmap(void* t, int dim, int* map);
int xmp_dist_axis(void* t, int dim, int* axis);
int xmp_dist_nodes(void* t, xmp_desc_t* nodes);
/// This rank's position in nodes, from 1.
int xmp_nodes_index(void* nodes, int dim, int* index);
int xmp_nodes_size(void* nodes, int dim, int* size);
int xmp_nodes_ndims(void* nodes, int* dims);
/// Which part of which nodes they are.
int xmp_nodes_equiv(void* nodes, xmp_desc_t* of, int* low, int* high, int* step);

/// All executing ranks call these together, with descriptors. Elements are not converted, so the arrays
/// have the same type. Only xmp_transpose moves no more than it has to; for the others each rank
/// temporarily holds everything that they read.
void xmp_transpose(void* to, void* from, int from_may_change);
void xmp_matmul(void* x, void* a, void* b);
/// x[i] = a[index[i]] and x[index[i]] = a[i], with an array of indices for each dimension.
void xmp_gather(void* x, void* a, ...);
void xmp_scatter(void* x, void* a, ...);
/// The elements of `a` for which `mask` is set, row by row, into the first of `v`, and back; NULL sets all.
void xmp_pack(void* v, void* a, void* mask);
void xmp_unpack(void* a, void* v, void* mask);
void xmp_sort_up(void* from, void* to);
void xmp_sort_down(void* from, void* to);
/// Whether nothing that `async(id)` began is under way; unlike wait_async it waits for nobody.
int xmp_test_async(int id);

/// What programs take from mpi.h to say where they are.
int xacc_processor_name(char* name, int* length);
#ifndef MPI_VERSION
#define MPI_MAX_PROCESSOR_NAME 256
#define MPI_Get_processor_name xacc_processor_name
#define MPI_Wtime xmp_wtime
#endif

#ifdef __cplusplus
}
#endif

#else  // serial

#include <stdlib.h>
#include <time.h>

static inline int xmp_node_num(void) { return 1; }
static inline int xmpc_node_num(void) { return 0; }
static inline int xmp_all_node_num(void) { return 1; }
static inline int xmpc_all_node_num(void) { return 0; }
static inline int xmp_num_nodes(void) { return 1; }
static inline int xmp_all_num_nodes(void) { return 1; }
static inline int xmpc_this_image(void) { return 0; }
static inline int xmp_num_images(void) { return 1; }
static inline void xmp_sync_all(int* status) { (void)status; }
static inline void xmp_sync_memory(int* status) { (void)status; }
static inline void xmp_exit(int status) { exit(status); }
static inline double xmp_wtime(void) { return (double)clock() / CLOCKS_PER_SEC; }

#endif

#endif
