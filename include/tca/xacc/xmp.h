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

/// Of this rank among those that execute, from 1; and from 0.
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
/// Images wait for all, for one and for some of each other; what they have put before is in place then. `status`
/// may be NULL, and becomes 0. Images count from 0.
void xmp_sync_all(int* status);
void xmp_sync_images_all(int* status);
void xmp_sync_image(int image, int* status);
void xmp_sync_images(int count, int* images, int* status);
/// What this image has put is in place.
void xmp_sync_memory(int* status);
/// Sets an element of any image's coarray in one piece, and reads it: `xmp_atomic_define(a[1]:[0], 5)` and
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
/// Where this rank lies in nodes, by dimension, from 1.
int xmp_nodes_index(void* nodes, int dim, int* index);
int xmp_nodes_size(void* nodes, int dim, int* size);

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
