/// @file
/// OpenTCA in C (C11, and C++): the calls of tca/raw.hpp, where the same promises are written out.
///
///     tca_world* world;
///     tca_window* u;
///     tca_chain* chain;
///     tca_layout row;
///     tca_world_init(NULL, &world);                               // check each status; left out here
///     tca_window_create(world, 2 * n, sizeof(double), "u", &u);
///     tca_chain_create(world, "ring", NULL, &chain);
///     tca_layout_block(n, &row);
///     tca_chain_put(chain, tca_at(u, right, n), &row, tca_here(u, 0), NULL);
///     tca_chain_expect(chain, left);
///     tca_chain_commit(chain);
///     for (int step = 0; step < steps; ++step) {
///       tca_chain_start(chain);
///       ...                                                       // overlaps
///       tca_chain_wait(chain);
///     }
///
/// Build: cc -std=c11 PROGRAM.c $(pkg-config --cflags --libs opentca), or link with OpenTCA::c in CMake.
///
///   - Every call returns a tca_status. If it is not TCA_OK, tca_last_message says in words what happened.
///     A call's last argument receives its result; an object that it should have made is NULL if it fails.
///   - Handles are names, not addresses. NULL, a handle that was freed, one of another kind, and any other
///     number are refused with TCA_INVALID_ARGUMENT and a message. Freeing NULL does nothing.
///   - Frees never wait for another rank, and may be made in any order: a chain keeps its windows, and a
///     window its world, until they are freed as well.
///   - "Collective" calls are made by every rank of the world, in the same order.
///   - A world and everything made in it belong to one thread at a time.
///   - Options begin with their size, are set by name after their _INIT, and may be NULL for the defaults.
///     So programs that know fewer or more of them than the library work with it; an option that the
///     library does not know is refused, unless it is zero.
#ifndef TCA_TCA_H
#define TCA_TCA_H

#include <stddef.h>
#include <stdint.h>

#ifndef TCA_API
#define TCA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---- Errors

/// The result of a call. From TCA_INVALID_ARGUMENT on these are the codes of tca::Errc, and the exit codes
/// for a program that ends because of one.
typedef enum tca_status {
  TCA_OK = 0,
  TCA_UNFINISHED = 1,        ///< the step goes on: from _test and _wait_for only; not an error
  TCA_INVALID_ARGUMENT = 2,  ///< the call or the environment asks for something impossible
  TCA_REFUSED = 3,    ///< ranks differ, or all ask for the same impossible thing; all see the same message
  TCA_TIMED_OUT = 4,  ///< the time limit has passed; the message names the missing ranks
  TCA_RANK_LOST = 5,  ///< a partner died, left or failed
  TCA_OUT_OF_MEMORY = 6,  ///< the machine cannot hold what was asked for
  TCA_INCOMPATIBLE = 7,   ///< another version, another user, another MPI
  TCA_DEVICE_FAILED = 8,  ///< a GPU or its driver reports an error, or there is none
  TCA_INTERNAL = 9,       ///< an error that is not OpenTCA's, such as an exception from a C++ callback
  TCA_PATH_LOST = 10  ///< a cable, a hub or a path on the way to a partner has failed; the message names it
} tca_status;

/// What the last error of a thread concerns, as far as that is known; texts are empty if it is not.
typedef struct tca_error {
  size_t size;
  const char* message;
  const char* chain;   ///< the name of the chain
  const char* file;    ///< the file at fault, such as a machine file
  const int* missing;  ///< the ranks that have not signalled or arrived, or the one that is lost
  int missing_count;
  int status;    ///< a tca_status
  int rank;      ///< the rank that met it; -1 outside of a world
  int line;      ///< in the file, from 1; 0 if there is none
  int column;    ///< the same
  int has_step;  ///< whether there is a step
  int64_t step;  ///< of the chain
} tca_error;
#define TCA_ERROR_INIT \
  { sizeof(tca_error), NULL, NULL, NULL, NULL, 0, 0, -1, 0, 0, 0, 0 }

/// Returns the name of a status, such as "timed_out".
TCA_API const char* tca_status_name(tca_status status);
/// Returns the message of the last call of this thread that failed; empty if none has. It is valid until
/// the next one fails.
TCA_API const char* tca_last_message(void);
/// Makes `message` this thread's last error, without fields: for the body of a rank that fails by itself, and
/// for layers over these calls. Returns the status.
TCA_API tca_status tca_fail(tca_status status, const char* message);
/// Finds out what that error concerns. The texts and `missing` are valid as long as the message.
TCA_API tca_status tca_last_error(tca_error* error);
/// Returns the version of the library that the program runs with, for example "0.1.0".
TCA_API const char* tca_library_version(void);

// ---- Worlds

typedef struct tca_world tca_world;
typedef struct tca_window tca_window;

/// See tca/world_options.hpp. Texts may be NULL, which is the same as empty.
typedef struct tca_world_options {
  size_t size;
  double time_limit;  ///< seconds that a blocking call may take; 0: 30
  const char*
      fabric;  ///< "shm", "cuda", "mpi", "shm+mpi", "cuda+mpi" or "sim"; empty: OPENTCA_FABRIC, or shm
  const char* machine;   ///< the modelled machine, on sim
  const char* fidelity;  ///< "tlp", "train", "flow" or "rtl", on sim
  int device;            ///< the GPU of this rank, on cuda; -1: its position among the ranks of the host
  int engine_blocks;     ///< multiprocessors for the resident engine, on cuda
  int trace;             ///< whether to record events for tca_world_write_trace
  int progress_thread;   ///< whether a thread progresses messages, on mpi and shm+mpi
  int check_steps;       ///< whether a wait without a start is an error
  int fibers;            ///< whether ranks of tca_world_run_threads take turns on one thread, on sim
  const char* faults;    ///< what fails and when, such as "path:0-1:shm@20ms"; see WorldOptions::faults
  int reroute;           ///< whether every chain reroutes around faults
  int reserved;          ///< 0
} tca_world_options;
#define TCA_WORLD_OPTIONS_INIT \
  { sizeof(tca_world_options), 0, NULL, NULL, NULL, -1, 0, 0, 0, 0, 0, NULL, 0, 0 }

/// Collective. Comes up as one rank of `tca run`, mpirun, srun, flux or torchrun, or alone; see World::init.
TCA_API tca_status tca_world_init(const tca_world_options* options, tca_world** world);
/// Collective over `size` processes of one host, which find each other by `key`; see World::join.
TCA_API tca_status tca_world_join(int rank, int size, const char* key, const tca_world_options* options,
                                  tca_world** world);

/// What a rank that is a thread runs. The world belongs to the caller. With a status other than TCA_OK the
/// rank counts as failed, with the thread's last message if that has the same status.
typedef tca_status (*tca_rank_body)(tca_world* world, void* context);
/// Runs `body` in `ranks` threads of this process, each with a world; see World::run_threads. Returns the
/// status of the rank that failed first, with its message; the others see it as TCA_RANK_LOST. The body frees
/// what it makes.
TCA_API tca_status tca_world_run_threads(int ranks, tca_rank_body body, void* context,
                                         const tca_world_options* options);
/// What tca_world_from_mpi of tca/tca_mpi.h calls, and, with "Open MPI in Fortran" and the number of a
/// communicator, that of Fortran.
TCA_API tca_status tca_world_from_mpi_handle(const void* comm, size_t bytes, const char* mpi,
                                             const tca_world_options* options, tca_world** world);

/// Collective over the `count` ranks that are named, in the same order by each; see World::group.
TCA_API tca_status tca_world_group(tca_world* world, const int* ranks, int count, tca_world** group);
/// Collective. Makes a group of the ranks that give the same colour; see World::split.
TCA_API tca_status tca_world_split(tca_world* world, int color, int key, tca_world** group);
/// A process may come up in another world once the last one and everything made in it are freed.
TCA_API tca_status tca_world_free(tca_world* world);

TCA_API tca_status tca_world_rank(tca_world* world, int* rank);
TCA_API tca_status tca_world_size(tca_world* world, int* size);
/// `of_ranks` has room for the number of each rank's sub-cluster.
TCA_API tca_status tca_world_sub_clusters(tca_world* world, int* of_ranks);
/// These two are collective and block: for set-up. `all` has room for the `bytes` bytes of every rank.
TCA_API tca_status tca_world_barrier(tca_world* world);
TCA_API tca_status tca_world_all_gather(tca_world* world, const void* mine, size_t bytes, void* all);
/// Progresses this rank's steps, without blocking.
TCA_API tca_status tca_world_progress(tca_world* world);
/// Returns the error of a step that was ordered on a stream, if there was one.
TCA_API tca_status tca_world_check(tca_world* world);
/// Tells sim that a kernel moves `bytes` bytes and does `flops` operations; nothing elsewhere.
TCA_API tca_status tca_world_compute(tca_world* world, double bytes, double flops);
/// Seconds since some fixed moment, by this rank's clock; a virtual one on sim.
TCA_API tca_status tca_world_now(tca_world* world, double* seconds);
/// Texts like these are valid until this thread's next call that returns one.
TCA_API tca_status tca_world_describe(tca_world* world, const char** text);
TCA_API tca_status tca_world_device_name(tca_world* world, const char** name);
TCA_API tca_status tca_world_ranks_on_device(tca_world* world, int* ranks);
/// Collective.
TCA_API tca_status tca_world_ranks_share_devices(tca_world* world, int* shared);
/// Collective. Rank 0 writes the events of all ranks to a file; see World::write_trace.
TCA_API tca_status tca_world_write_trace(tca_world* world, const char* path);
/// Adds a span to the trace, between two values of tca_world_now.
TCA_API tca_status tca_world_trace_span(tca_world* world, const char* name, double begin, double end);

// ---- Windows

/// Collective. Makes a window with zeroed memory for `elements` elements of `element_bytes` bytes on this
/// rank; ranks may ask for different numbers. `name` is the same on every rank, and may be NULL. See
/// World::window.
TCA_API tca_status tca_window_create(tca_world* world, int64_t elements, size_t element_bytes,
                                     const char* name, tca_window** window);
/// Collective. Makes a window from memory that the program keeps; see World::window for where it may come
/// from.
TCA_API tca_status tca_window_of_memory(tca_world* world, void* memory, int64_t elements,
                                        size_t element_bytes, const char* name, tca_window** window);
/// Makes another handle for a window, as a group of the ranks that it was made among sees it; see
/// World::view.
TCA_API tca_status tca_window_view(tca_world* group, tca_window* window, tca_window** view);
TCA_API tca_status tca_window_free(tca_window* window);

/// The address of this rank's part, which may be a GPU's; NULL if it has none.
TCA_API tca_status tca_window_data(tca_window* window, void** data);
TCA_API tca_status tca_window_element_bytes(tca_window* window, size_t* bytes);
/// The number of elements of this rank's part, and of another rank's.
TCA_API tca_status tca_window_elements(tca_window* window, int64_t* elements);
TCA_API tca_status tca_window_elements_on(tca_window* window, int rank, int64_t* elements);
/// The number by which messages refer to a window without a name.
TCA_API tca_status tca_window_number(tca_window* window, uint32_t* number);
/// Copy elements between host memory and this rank's part, wherever that is, from element `offset` on.
TCA_API tca_status tca_window_read(tca_window* window, int64_t offset, int64_t elements, void* into);
TCA_API tca_status tca_window_write(tca_window* window, int64_t offset, int64_t elements, const void* from);

/// An element of a rank's part, which a put writes to.
typedef struct tca_remote {
  tca_window* window;
  int64_t offset;  ///< elements
  int rank;
} tca_remote;
/// An element of this rank's own part, which a put reads from.
typedef struct tca_local {
  tca_window* window;
  int64_t offset;  ///< elements
} tca_local;

static inline tca_remote tca_at(tca_window* window, int rank, int64_t offset) {
  tca_remote place;
  place.window = window;
  place.offset = offset;
  place.rank = rank;
  return place;
}
static inline tca_local tca_here(tca_window* window, int64_t offset) {
  tca_local place;
  place.window = window;
  place.offset = offset;
  return place;
}

/// Puts one element of up to 64 bytes at once, outside of any chain; see tca::Remote::put.
TCA_API tca_status tca_put_now(tca_remote to, const void* element);

// ---- Layouts

#define TCA_MAX_LOOPS 3
/// Which elements a put moves, counted from its place: runs of contiguous ones in up to three loops. Made by
/// the calls below, or by hand.
typedef struct tca_layout {
  int64_t first;  ///< elements from the place to the first one
  int64_t run;    ///< contiguous elements
  int64_t loops;  ///< how many of these are used, the innermost first
  struct {
    int64_t count;  ///< repetitions
    int64_t pitch;  ///< elements from one to the next
  } loop[TCA_MAX_LOOPS];
} tca_layout;

/// `count` contiguous elements.
TCA_API tca_status tca_layout_block(int64_t count, tca_layout* layout);
/// `rows` rows of `block` elements, `pitch` elements from one start to the next.
TCA_API tca_status tca_layout_block_stride(int64_t rows, int64_t block, int64_t pitch, tca_layout* layout);
/// `count` single elements, `pitch` apart.
TCA_API tca_status tca_layout_stride(int64_t count, int64_t pitch, tca_layout* layout);
/// The box of `shape` at `start` of a row-major array of `extents`, each of `dims` numbers.
TCA_API tca_status tca_layout_subarray(int dims, const int64_t* extents, const int64_t* start,
                                       const int64_t* shape, tca_layout* layout);

// ---- Chains

/// A queue of work on a GPU: a cudaStream_t.
typedef struct CUstream_st* tca_stream;

typedef struct tca_chain tca_chain;
typedef struct tca_chain_options {
  size_t size;
  double time_limit;    ///< seconds that a wait and a commit may take; 0: the world's limit
  const char* channel;  ///< forces a channel for every put, such as "shm/staged"; see ChainOptions
  int unguarded;        ///< whether the program guarantees what ChainOptions::guarded says
  int partners_only;    ///< whether only the ranks that the chain connects commit it; see ChainOptions
  int reroute;          ///< whether it reroutes around faults; see ChainOptions
  int reserved;         ///< 0
} tca_chain_options;
#define TCA_CHAIN_OPTIONS_INIT \
  { sizeof(tca_chain_options), 0, NULL, 0, 0, 0, 0 }

/// Makes an empty chain. The name is the same on every rank.
TCA_API tca_status tca_chain_create(tca_world* world, const char* name, const tca_chain_options* options,
                                    tca_chain** chain);
TCA_API tca_status tca_chain_free(tca_chain* chain);
/// Adds a put. `from_layout` is NULL if both sides have the same layout; see Chain::put.
TCA_API tca_status tca_chain_put(tca_chain* chain, tca_remote to, const tca_layout* to_layout, tca_local from,
                                 const tca_layout* from_layout);
/// Adds a put of no bytes, which tells `rank` that this rank has started.
TCA_API tca_status tca_chain_signal(tca_chain* chain, int rank);
/// Declares that `rank` puts or signals to this rank.
TCA_API tca_status tca_chain_expect(tca_chain* chain, int rank);
/// Collective, over all ranks or those that `partners_only` selects. Checks the puts of all of them,
/// chooses their channels and compiles them; see Chain::commit.
TCA_API tca_status tca_chain_commit(tca_chain* chain);
/// Starts a step, and never blocks.
TCA_API tca_status tca_chain_start(tca_chain* chain);
/// TCA_OK if the step has finished or none is under way, otherwise TCA_UNFINISHED. Never blocks.
TCA_API tca_status tca_chain_test(tca_chain* chain);
/// Finishes the step.
TCA_API tca_status tca_chain_wait(tca_chain* chain);
/// Waits for at most `seconds`: TCA_UNFINISHED if the step goes on, to be waited for again.
TCA_API tca_status tca_chain_wait_for(tca_chain* chain, double seconds);
/// A start and a wait.
TCA_API tca_status tca_chain_run(tca_chain* chain);
/// The same, ordered on a stream of the GPU; see Chain::start(Stream).
TCA_API tca_status tca_chain_start_on(tca_chain* chain, tca_stream stream);
TCA_API tca_status tca_chain_wait_on(tca_chain* chain, tca_stream stream);
TCA_API tca_status tca_chain_run_on(tca_chain* chain, tca_stream stream);
/// A line for every put: its channel, time, bytes, layout and the reason for the choice.
TCA_API tca_status tca_chain_explain(tca_chain* chain, const char** text);
TCA_API tca_status tca_chain_name(tca_chain* chain, const char** name);

// ---- Counted puts: the length of each is chosen anew for every step; see tca/counted.hpp

/// The sending and the receiving end. They may outlive their chain.
typedef struct tca_counted_put tca_counted_put;
typedef struct tca_counted_arrival tca_counted_arrival;

/// Adds a put that moves, in each step, as many elements as are set, at most those of the layout.
/// `from_layout` is NULL if both sides have the same layout.
TCA_API tca_status tca_chain_put_counted(tca_chain* chain, tca_remote to, const tca_layout* to_layout,
                                         tca_local from, const tca_layout* from_layout,
                                         tca_counted_put** put);
/// Declares a counted put of `rank` to this rank; the n-th call for a rank is for its n-th one.
TCA_API tca_status tca_chain_expect_counted(tca_chain* chain, int rank, tca_counted_arrival** arrival);
/// Sets the length of the steps that are started from here on: 0 to the capacity, and 0 before the first call.
TCA_API tca_status tca_counted_put_set(tca_counted_put* put, int64_t elements);
TCA_API tca_status tca_counted_put_length(tca_counted_put* put, int64_t* elements);
TCA_API tca_status tca_counted_put_capacity(tca_counted_put* put, int64_t* elements);
TCA_API tca_status tca_counted_put_rank(tca_counted_put* put, int* rank);
TCA_API tca_status tca_counted_put_free(tca_counted_put* put);
/// How many elements arrived with the step that was last waited for. Not while a step is under way.
TCA_API tca_status tca_counted_arrival_count(tca_counted_arrival* arrival, int64_t* elements);
/// The most that can arrive; 0 before the commit.
TCA_API tca_status tca_counted_arrival_capacity(tca_counted_arrival* arrival, int64_t* elements);
TCA_API tca_status tca_counted_arrival_rank(tca_counted_arrival* arrival, int* rank);
TCA_API tca_status tca_counted_arrival_free(tca_counted_arrival* arrival);

// ---- Grids and halos

#define TCA_MAX_DIMS 7
/// Ranks in row-major order over up to seven dimensions; a value, with nothing to free. See Grid.
typedef struct tca_grid {
  int dims;
  int shape[TCA_MAX_DIMS];     ///< how many ranks there are along each dimension, outermost first
  int periodic[TCA_MAX_DIMS];  ///< whether its ends are neighbours
} tca_grid;

/// A grid of `shape`, whose product is `ranks`; zeros in it are chosen. `periodic` and `extents` may be NULL.
TCA_API tca_status tca_grid_create(int ranks, int dims, const int* shape, const int* periodic,
                                   const int64_t* extents, tca_grid* grid);
/// The grid whose busiest rank sends the least for an array of `extents`. `periodic` may be NULL.
TCA_API tca_status tca_grid_choose(int ranks, int dims, const int64_t* extents, const int* periodic,
                                   tca_grid* grid);
/// Coordinates and steps have `dims` numbers.
TCA_API tca_status tca_grid_coordinates(const tca_grid* grid, int rank, int* coordinates);
TCA_API tca_status tca_grid_rank_at(const tca_grid* grid, const int* coordinates, int* rank);
/// -1 past an end that is not periodic.
TCA_API tca_status tca_grid_neighbour(const tca_grid* grid, int rank, const int* step, int* neighbour);
/// The share of `rank` of the `whole` elements along dimension `dim`.
TCA_API tca_status tca_grid_part(const tca_grid* grid, int rank, int dim, int64_t whole, int64_t* begin,
                                 int64_t* size);

typedef struct tca_ghost_width {
  int64_t low, high;
} tca_ghost_width;

typedef struct tca_halo tca_halo;
typedef struct tca_halo_options {
  size_t size;
  const tca_ghost_width* width;     ///< of each dimension; NULL: one ghost on each side
  const tca_ghost_width* exchange;  ///< those that are filled, next to the interior; NULL: all
  const tca_chain_options* chain;   ///< NULL: the defaults
  int corners;                      ///< whether edges and corners are filled as well
  int reserved;                     ///< 0
} tca_halo_options;
#define TCA_HALO_OPTIONS_INIT \
  { sizeof(tca_halo_options), NULL, NULL, NULL, 0, 0 }

/// Collective. The ghost cells of arrays whose `interior` is what this rank owns of each dimension; see Halo.
TCA_API tca_status tca_halo_create(tca_world* world, const char* name, const tca_grid* grid,
                                   const int64_t* interior, const tca_halo_options* options, tca_halo** halo);
TCA_API tca_status tca_halo_free(tca_halo* halo);
/// The extents of a field, ghosts included: as many as the grid has dimensions, and their product.
TCA_API tca_status tca_halo_extents(tca_halo* halo, int64_t* extents);
TCA_API tca_status tca_halo_elements(tca_halo* halo, int64_t* elements);
/// The offset of a cell in a field, in elements. The interior begins at 0, and -1 is the ghost below it.
TCA_API tca_status tca_halo_index(tca_halo* halo, const int64_t* cell, int64_t* offset);
/// Adds a field, which begins at element `offset` of this rank's part of a window.
TCA_API tca_status tca_halo_add(tca_halo* halo, tca_window* window, int64_t offset);
/// Adds a field whose faces are counted puts; see Halo::add_counted.
TCA_API tca_status tca_halo_add_counted(tca_halo* halo, tca_window* window, int64_t offset);
/// The two ends of a counted field's exchange on one side, of -1, 0 and 1 for each dimension; after the
/// commit. Fields are numbered from 0. NULL if there is no neighbour or no ghosts are to be filled.
TCA_API tca_status tca_halo_to(tca_halo* halo, int field, const int* side, tca_counted_put** put);
TCA_API tca_status tca_halo_from(tca_halo* halo, int field, const int* side, tca_counted_arrival** arrival);
/// Collective.
TCA_API tca_status tca_halo_commit(tca_halo* halo);
/// These are like the calls of a chain.
TCA_API tca_status tca_halo_start(tca_halo* halo);
TCA_API tca_status tca_halo_test(tca_halo* halo);
TCA_API tca_status tca_halo_wait(tca_halo* halo);
TCA_API tca_status tca_halo_wait_for(tca_halo* halo, double seconds);
TCA_API tca_status tca_halo_run(tca_halo* halo);
TCA_API tca_status tca_halo_start_on(tca_halo* halo, tca_stream stream);
TCA_API tca_status tca_halo_wait_on(tca_halo* halo, tca_stream stream);
TCA_API tca_status tca_halo_run_on(tca_halo* halo, tca_stream stream);
TCA_API tca_status tca_halo_explain(tca_halo* halo, const char** text);

// ---- Collectives

typedef enum tca_collective_kind {
  TCA_BARRIER,
  TCA_BROADCAST,
  TCA_ALL_GATHER,
  TCA_ALL_REDUCE,
  TCA_REDUCE_SCATTER,
  TCA_ALL_TO_ALL
} tca_collective_kind;

typedef enum tca_data_type {
  TCA_FLOAT32,
  TCA_FLOAT64,
  TCA_INT32,
  TCA_INT64,
  TCA_LONG_DOUBLE,
  TCA_INT8,
  TCA_INT16,
  TCA_UINT8,
  TCA_UINT16,
  TCA_UINT32,
  TCA_UINT64,
  TCA_OTHER  ///< only the size is known
} tca_data_type;

typedef enum tca_reduce_op { TCA_SUM, TCA_MIN, TCA_MAX, TCA_PRODUCT } tca_reduce_op;

/// Combines `count` elements: into[i] = left[i] op right[i], where `into` may be either of the others. It
/// must be associative, has the values of the lower rank on the left, and is called on the host only.
typedef void (*tca_combine)(void* into, const void* left, const void* right, size_t count, void* context);

typedef struct tca_collective tca_collective;
/// Describes a collective, the same on every rank; see tca/coll.hpp for the sizes of windows.
typedef struct tca_collective_request {
  size_t size;
  const char* name;
  int64_t count;          ///< elements of a block: what one rank gives to one other, or gets
  size_t element_bytes;   ///< of elements of TCA_OTHER; 0 for the others
  int kind;               ///< a tca_collective_kind
  int type;               ///< a tca_data_type
  int root;               ///< of a broadcast
  int operation;          ///< a tca_reduce_op, of all_reduce and reduce_scatter
  tca_combine combine;    ///< the program's own operation instead; or NULL
  void* context;          ///< what it is given; it must live as long as the collective
  const char* algorithm;  ///< forces an algorithm, such as "ring"; NULL: the library chooses
  const char* channel;    ///< forces a channel
  double time_limit;      ///< seconds that a wait may take for each round; 0: the world's limit
} tca_collective_request;
#define TCA_COLLECTIVE_REQUEST_INIT                                                                         \
  {                                                                                                         \
    sizeof(tca_collective_request), NULL, 0, 0, TCA_BARRIER, TCA_OTHER, 0, TCA_SUM, NULL, NULL, NULL, NULL, \
        0                                                                                                   \
  }

/// Collective. Makes a collective with memory of its own if both windows are NULL, in place if only `to`
/// is, and from one window to another otherwise; see raw::Collective.
TCA_API tca_status tca_collective_create(tca_world* world, const tca_collective_request* request,
                                         tca_window* from, tca_window* to, tca_collective** collective);
TCA_API tca_status tca_collective_free(tca_collective* collective);
/// The windows that it reads and writes, as separate handles, which are freed like others. A barrier has
/// none.
TCA_API tca_status tca_collective_from(tca_collective* collective, tca_window** window);
TCA_API tca_status tca_collective_to(tca_collective* collective, tca_window** window);
/// These are like the calls of a chain.
TCA_API tca_status tca_collective_start(tca_collective* collective);
TCA_API tca_status tca_collective_test(tca_collective* collective);
TCA_API tca_status tca_collective_wait(tca_collective* collective);
TCA_API tca_status tca_collective_wait_for(tca_collective* collective, double seconds);
TCA_API tca_status tca_collective_run(tca_collective* collective);
TCA_API tca_status tca_collective_start_on(tca_collective* collective, tca_stream stream);
TCA_API tca_status tca_collective_wait_on(tca_collective* collective, tca_stream stream);
TCA_API tca_status tca_collective_run_on(tca_collective* collective, tca_stream stream);
/// The name of the chosen algorithm, and all that could be chosen, with predicted times.
TCA_API tca_status tca_collective_algorithm(tca_collective* collective, const char** name);
TCA_API tca_status tca_collective_explain(tca_collective* collective, const char** text);

// ---- Folds

typedef struct tca_fold tca_fold;

/// Adds what the ghosts of a halo have gathered to the cells that they stand for; see Fold. `options` may
/// be NULL, and the halo need not be committed.
TCA_API tca_status tca_fold_create(tca_world* world, const char* name, tca_halo* halo,
                                   const tca_chain_options* options, tca_fold** fold);
TCA_API tca_status tca_fold_free(tca_fold* fold);
/// Adds a field of numbers of a tca_data_type, which begins at element `offset` of this rank's part of a
/// window and is combined by a tca_reduce_op. An element may be several such numbers.
TCA_API tca_status tca_fold_add(tca_fold* fold, tca_window* window, int64_t offset, int type, int operation);
/// Collective.
TCA_API tca_status tca_fold_commit(tca_fold* fold);
/// These are like the calls of a chain; those that finish a step add what has arrived.
TCA_API tca_status tca_fold_start(tca_fold* fold);
TCA_API tca_status tca_fold_test(tca_fold* fold);
TCA_API tca_status tca_fold_wait(tca_fold* fold);
TCA_API tca_status tca_fold_wait_for(tca_fold* fold, double seconds);
TCA_API tca_status tca_fold_run(tca_fold* fold);
TCA_API tca_status tca_fold_start_on(tca_fold* fold, tca_stream stream);
TCA_API tca_status tca_fold_wait_on(tca_fold* fold, tca_stream stream);
TCA_API tca_status tca_fold_run_on(tca_fold* fold, tca_stream stream);
TCA_API tca_status tca_fold_explain(tca_fold* fold, const char** text);

// ---- Rounds of a chain or a halo, for data that may not fit into one step; see tca/rounds.hpp

typedef struct tca_rounds tca_rounds;
/// What a rank does before each start: it sets lengths, and says whether it will still have something to send.
typedef tca_status (*tca_load)(void* context, int* has_more);
/// What it does after each wait.
typedef tca_status (*tca_unload)(void* context);

/// Collective. Makes the sum by which all ranks know that they have finished.
TCA_API tca_status tca_rounds_of_chain(tca_world* world, const char* name, tca_chain* chain,
                                       tca_rounds** rounds);
TCA_API tca_status tca_rounds_of_halo(tca_world* world, const char* name, tca_halo* halo,
                                      tca_rounds** rounds);
/// Collective. Runs steps until no rank has more, and at least one; `count` says how many. A status of `load` or
/// `unload` other than TCA_OK ends it, and is returned.
TCA_API tca_status tca_rounds_run(tca_rounds* rounds, tca_load load, tca_unload unload, void* context,
                                  int* count);
TCA_API tca_status tca_rounds_free(tca_rounds* rounds);

// ---- Posts and notices: puts that one rank starts by itself; see tca/post.hpp

typedef struct tca_region tca_region;
typedef struct tca_post tca_post;
typedef struct tca_notices tca_notices;
#define TCA_TOKEN_BYTES 128
/// Names a region to the ranks of its world: plain bytes, which travel by any means.
typedef struct tca_token {
  uint8_t byte[TCA_TOKEN_BYTES];
} tca_token;

/// Makes memory of this rank that others may post into: new and zeroed (GPU memory in a world on GPUs), or
/// the program's own.
TCA_API tca_status tca_region_create(tca_world* world, int64_t bytes, tca_region** region);
TCA_API tca_status tca_region_of_memory(tca_world* world, void* memory, int64_t bytes, tca_region** region);
TCA_API tca_status tca_region_data(tca_region* region, void** data);
TCA_API tca_status tca_region_bytes(tca_region* region, size_t* bytes);
TCA_API tca_status tca_region_token(tca_region* region, tca_token* token);
/// From here on posts into the region are refused.
TCA_API tca_status tca_region_free(tca_region* region);
/// Whose memory it is, and how much.
TCA_API tca_status tca_token_rank(const tca_token* token, int* rank);
TCA_API tca_status tca_token_bytes(const tca_token* token, size_t* bytes);

/// Makes an empty post. `name` may be NULL.
TCA_API tca_status tca_post_create(tca_world* world, const char* name, tca_post** post);
/// Adds a put of `elements` elements of `element_bytes` bytes, from `from` on, to `at` elements after the
/// beginning of a region. The source is read at every start. `from_layout` is NULL if both sides have the
/// same layout.
TCA_API tca_status tca_post_put(tca_post* post, const tca_token* to, int64_t at, const tca_layout* to_layout,
                                const void* from, int64_t elements, const tca_layout* from_layout,
                                size_t element_bytes);
/// Adds a notice: `rank` learns that everything that was added for it before is in place.
TCA_API tca_status tca_post_notify(tca_post* post, int rank, int slot, uint32_t tag);
TCA_API tca_status tca_post_clear(tca_post* post);
/// Sends the bytes as they are now. Never blocks.
TCA_API tca_status tca_post_start(tca_post* post);
/// These finish when all sources may be overwritten, and are otherwise like the calls of a chain.
TCA_API tca_status tca_post_test(tca_post* post);
TCA_API tca_status tca_post_wait(tca_post* post);
TCA_API tca_status tca_post_wait_for(tca_post* post, double seconds);
TCA_API tca_status tca_post_run(tca_post* post);
/// These finish when everything that the post has ever sent is in place.
TCA_API tca_status tca_post_flush(tca_post* post);
TCA_API tca_status tca_post_flush_for(tca_post* post, double seconds);
TCA_API tca_status tca_post_free(tca_post* post);

TCA_API tca_status tca_notices_create(tca_world* world, tca_notices** notices);
/// Each call that returns TCA_OK consumes one notice of the source, the slot and the tag.
TCA_API tca_status tca_notices_test(tca_notices* notices, int source, int slot, uint32_t tag);
TCA_API tca_status tca_notices_wait(tca_notices* notices, int source, int slot, uint32_t tag);
/// `already` is the number of seconds that the program has waited for it in earlier calls, which the time limit
/// covers as well.
TCA_API tca_status tca_notices_wait_for(tca_notices* notices, int source, int slot, uint32_t tag,
                                        double seconds, double already);
/// The same for a notice of any tag, which is returned.
TCA_API tca_status tca_notices_test_any(tca_notices* notices, int source, int slot, uint32_t* tag);
TCA_API tca_status tca_notices_free(tca_notices* notices);

#ifdef __cplusplus
}
#endif

#endif
