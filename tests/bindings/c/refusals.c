// Each status with its message and its fields, and arguments that cannot be.
#include <limits.h>
#include <math.h>

#include "check.h"
#include "ranks.h"

static tca_status pointers(tca_world* world, void* context) {
  (void)context;
  int me;
  tca_window* u;
  tca_chain* chain;
  tca_layout one;
  int64_t number;
  TRY(tca_world_rank(world, &me));
  TRY(tca_window_create(world, 4, 8, "u", &u));
  TRY(tca_chain_create(world, "faces", NULL, &chain));
  TRY(tca_layout_block(1, &one));
  EXPECT(tca_world_rank(world, NULL), TCA_INVALID_ARGUMENT, "tca_world_rank: the place for the rank is NULL");
  EXPECT(tca_world_group(world, NULL, 1, NULL), TCA_INVALID_ARGUMENT, "the place for the result is NULL");
  tca_world* group = world;
  EXPECT(tca_world_group(world, NULL, 1, &group), TCA_INVALID_ARGUMENT, "the list of ranks is NULL");
  REQUIRE(group == NULL, "a handle is left where nothing was made");
  EXPECT(tca_world_group(world, &me, 0, &group), TCA_INVALID_ARGUMENT, "a group of 0 ranks");
  EXPECT(tca_world_all_gather(world, NULL, 4, &me), TCA_INVALID_ARGUMENT, "this rank's part is NULL");
  EXPECT(tca_world_all_gather(world, &me, SIZE_MAX, &me), TCA_INVALID_ARGUMENT, "of each rank cannot be");
  EXPECT(tca_chain_create(world, NULL, NULL, &chain), TCA_INVALID_ARGUMENT, "the name is NULL");
  TRY(tca_chain_create(world, "faces", NULL, &chain));
  EXPECT(tca_chain_put(chain, tca_at(u, 0, 0), NULL, tca_here(u, 0), NULL), TCA_INVALID_ARGUMENT,
         "the layout is NULL");
  EXPECT(tca_chain_put(chain, tca_at(u, 0, INT64_MAX), &one, tca_here(u, 0), NULL), TCA_INVALID_ARGUMENT, "");
  EXPECT(tca_chain_put(chain, tca_at(u, 0, 0), &one, tca_here(u, 4), NULL), TCA_INVALID_ARGUMENT,
         "put of chain 'faces' to rank 0: the source");
  EXPECT(tca_chain_put(chain, tca_at(u, 9, 0), &one, tca_here(u, 0), NULL), TCA_INVALID_ARGUMENT, "9");
  EXPECT(tca_chain_wait_for(chain, -1), TCA_INVALID_ARGUMENT, "-1 seconds cannot be");
  EXPECT(tca_chain_wait_for(chain, NAN), TCA_INVALID_ARGUMENT, "nan seconds cannot be");
  EXPECT(tca_chain_start(chain), TCA_INVALID_ARGUMENT, "faces");
  EXPECT(tca_chain_explain(chain, NULL), TCA_INVALID_ARGUMENT, "the place for the text is NULL");
  EXPECT(tca_window_read(u, 0, -1, &number), TCA_INVALID_ARGUMENT, "-1 elements cannot be");
  EXPECT(tca_window_read(u, 0, INT64_MAX, &number), TCA_INVALID_ARGUMENT, "cannot be");
  EXPECT(tca_window_write(u, 0, 1, NULL), TCA_INVALID_ARGUMENT, "the host memory is NULL");
  EXPECT(tca_window_write(u, 4, 1, &number), TCA_INVALID_ARGUMENT, "u");
  EXPECT(tca_put_now(tca_at(u, me, 0), NULL), TCA_INVALID_ARGUMENT, "the element is NULL");
  EXPECT(tca_put_now(tca_at(u, me, 4), &number), TCA_INVALID_ARGUMENT, "u");
  // Where no GPU carries the chain, there are no streams.
  EXPECT(tca_chain_start_on(chain, NULL), TCA_INVALID_ARGUMENT, "faces");
  EXPECT(tca_chain_wait_on(chain, NULL), TCA_INVALID_ARGUMENT, "faces");
  EXPECT(tca_chain_run_on(chain, NULL), TCA_INVALID_ARGUMENT, "faces");
  TRY(tca_chain_free(chain));
  return tca_window_free(u);
}

static tca_status layouts_and_grids(void) {
  tca_layout layout;
  tca_grid grid = {0};
  const int64_t cells[] = {8, 8}, start[] = {4, 4}, shape[] = {5, 1};
  const int ranks[] = {2, 2};
  int rank;
  EXPECT(tca_layout_block(-1, &layout), TCA_INVALID_ARGUMENT, "-1");
  EXPECT(tca_layout_block(1, NULL), TCA_INVALID_ARGUMENT, "the layout is NULL");
  EXPECT(tca_layout_block_stride(2, 4, 3, &layout), TCA_INVALID_ARGUMENT, "pitch");
  EXPECT(tca_layout_stride(2, 0, &layout), TCA_INVALID_ARGUMENT, "pitch");
  EXPECT(tca_layout_subarray(2, cells, start, shape, &layout), TCA_INVALID_ARGUMENT, "subarray");
  EXPECT(tca_layout_subarray(8, cells, start, shape, &layout), TCA_INVALID_ARGUMENT,
         "8 dimensions; there are 1 to 7");
  EXPECT(tca_layout_subarray(2, cells, NULL, shape, &layout), TCA_INVALID_ARGUMENT, "the start is NULL");
  EXPECT(tca_grid_create(5, 2, ranks, NULL, NULL, &grid), TCA_INVALID_ARGUMENT, "5");
  EXPECT(tca_grid_choose(100, 2, NULL, NULL, &grid), TCA_INVALID_ARGUMENT, "extents is NULL");
  EXPECT(tca_grid_rank_at(&grid, ranks, &rank), TCA_INVALID_ARGUMENT, "0 dimensions");
  grid.dims = 2;
  EXPECT(tca_grid_rank_at(&grid, ranks, &rank), TCA_INVALID_ARGUMENT, "make it by tca_grid_create");
  TRY(tca_grid_create(4, 2, ranks, NULL, NULL, &grid));
  EXPECT(tca_grid_rank_at(&grid, ranks, &rank), TCA_INVALID_ARGUMENT, "2");
  EXPECT(tca_grid_coordinates(&grid, 4, NULL), TCA_INVALID_ARGUMENT, "coordinates is NULL");
  EXPECT(tca_grid_neighbour(&grid, 0, NULL, &rank), TCA_INVALID_ARGUMENT, "the step is NULL");
  return TCA_OK;
}

static tca_status patterns(tca_world* world, void* context) {
  (void)context;
  const int shape[] = {2};
  const int64_t cells[] = {4};
  tca_grid grid;
  tca_halo* halo;
  tca_window* narrow;
  tca_collective* all;
  TRY(tca_grid_create(2, 1, shape, NULL, NULL, &grid));
  TRY(tca_window_create(world, 2, 8, "narrow", &narrow));
  EXPECT(tca_halo_create(world, "u", NULL, cells, NULL, &halo), TCA_INVALID_ARGUMENT, "the grid is NULL");
  EXPECT(tca_halo_create(world, "u", &grid, NULL, NULL, &halo), TCA_INVALID_ARGUMENT, "the interior is NULL");
  TRY(tca_halo_create(world, "u", &grid, cells, NULL, &halo));
  EXPECT(tca_halo_add(halo, narrow, 0), TCA_INVALID_ARGUMENT, "narrow");
  EXPECT(tca_halo_extents(halo, NULL), TCA_INVALID_ARGUMENT, "extents is NULL");
  EXPECT(tca_halo_index(halo, NULL, NULL), TCA_INVALID_ARGUMENT, "NULL");
  EXPECT(tca_halo_commit(halo), TCA_REFUSED, "u");
  EXPECT(tca_halo_start_on(halo, NULL), TCA_INVALID_ARGUMENT, "u");
  EXPECT(tca_halo_wait_on(halo, NULL), TCA_INVALID_ARGUMENT, "u");
  EXPECT(tca_halo_run_on(halo, NULL), TCA_INVALID_ARGUMENT, "u");
  TRY(tca_halo_free(halo));

  tca_collective_request request = TCA_COLLECTIVE_REQUEST_INIT;
  EXPECT(tca_collective_create(world, NULL, NULL, NULL, &all), TCA_INVALID_ARGUMENT, "the request is NULL");
  EXPECT(tca_collective_create(world, &request, NULL, NULL, &all), TCA_INVALID_ARGUMENT, "the name is NULL");
  request.name = "sum";
  request.kind = 6;
  EXPECT(tca_collective_create(world, &request, NULL, NULL, &all), TCA_INVALID_ARGUMENT,
         "6 is no tca_collective_kind");
  request.kind = TCA_ALL_REDUCE;
  request.type = -1;
  EXPECT(tca_collective_create(world, &request, NULL, NULL, &all), TCA_INVALID_ARGUMENT,
         "-1 is no tca_data_type");
  request.type = TCA_INT32;
  request.operation = 4;
  EXPECT(tca_collective_create(world, &request, NULL, NULL, &all), TCA_INVALID_ARGUMENT,
         "4 is no tca_reduce_op");
  request.operation = TCA_MAX;
  EXPECT(tca_collective_create(world, &request, NULL, narrow, &all), TCA_INVALID_ARGUMENT, "none to read");
  EXPECT(tca_collective_create(world, &request, narrow, NULL, &all), TCA_REFUSED,
         "sum");  // of other elements
  request.count = 1;
  TRY(tca_collective_create(world, &request, NULL, NULL, &all));
  EXPECT(tca_collective_run_on(all, NULL), TCA_INVALID_ARGUMENT, "sum");
  EXPECT(tca_collective_start_on(all, NULL), TCA_INVALID_ARGUMENT, "sum");
  EXPECT(tca_collective_wait_on(all, NULL), TCA_INVALID_ARGUMENT, "sum");
  TRY(tca_collective_free(all));
  return tca_window_free(narrow);
}

// What every rank sees alike, with the fields of the error; the chain goes on afterwards.
static tca_status refused(tca_world* world, void* context) {
  (void)context;
  int me;
  tca_window *u, *huge = NULL;
  tca_chain* chain;
  tca_layout two;
  TRY(tca_world_rank(world, &me));
  TRY(tca_window_create(world, 4, 8, "u", &u));
  TRY(tca_chain_create(world, "faces", NULL, &chain));
  TRY(tca_layout_block(2, &two));
  if (me == 0) TRY(tca_chain_put(chain, tca_at(u, 1, 0), &two, tca_here(u, 2), NULL));
  EXPECT(tca_chain_commit(chain), TCA_REFUSED, "faces");
  tca_error error = TCA_ERROR_INIT;
  TRY(tca_last_error(&error));
  REQUIRE(error.status == TCA_REFUSED && error.rank == me && strcmp(error.chain, "faces") == 0, "%s",
          error.message);
  REQUIRE(!error.has_step && error.line == 0 && strcmp(error.file, "") == 0, "%s", error.message);
  REQUIRE(strcmp(error.message, tca_last_message()) == 0, "%s", error.message);
  if (me == 1) TRY(tca_chain_expect(chain, 0));
  TRY(tca_chain_commit(chain));
  TRY(tca_chain_run(chain));
  EXPECT(tca_window_create(world, INT64_MAX / 16, 8, "huge", &huge), TCA_OUT_OF_MEMORY, "huge");
  REQUIRE(huge == NULL, "a handle is left");
  TRY(tca_chain_free(chain));
  return tca_window_free(u);
}

static tca_status fails_by_itself(tca_world* world, void* context) {
  int me;
  TRY(tca_world_rank(world, &me));
  if (me == 1) return *(tca_status*)context;
  return tca_world_barrier(world);
}

static tca_status fails_with_words(tca_world* world, void* context) {
  (void)context;
  int me;
  TRY(tca_world_rank(world, &me));
  return me == 1 ? tca_fail(TCA_OUT_OF_MEMORY, "the mesh is too large") : tca_world_barrier(world);
}

static tca_status fails_in_a_call(tca_world* world, void* context) {
  (void)context;
  int me;
  tca_layout layout;
  TRY(tca_world_rank(world, &me));
  return me == 1 ? tca_layout_block(-7, &layout) : tca_world_barrier(world);
}

// Worlds that do not come up, and ranks that fail.
static tca_status worlds(void) {
  tca_world* world;
  tca_world_options options = TCA_WORLD_OPTIONS_INIT;
  options.fabric = "sneakernet";
  EXPECT(tca_world_init(&options, &world), TCA_INVALID_ARGUMENT, "sneakernet");
  REQUIRE(world == NULL, "a handle is left");
  options.fabric = "sim";
  options.machine = "nowhere";
  EXPECT(tca_world_run_threads(2, fails_in_a_call, NULL, &options), TCA_INVALID_ARGUMENT, "nowhere");
  EXPECT(tca_world_run_threads(2, NULL, NULL, NULL), TCA_INVALID_ARGUMENT, "the body is NULL");
  EXPECT(tca_world_run_threads(0, fails_in_a_call, NULL, NULL), TCA_INVALID_ARGUMENT, "0");
  EXPECT(tca_world_join(2, 2, "c-test", NULL, &world), TCA_INVALID_ARGUMENT, "rank 2 of 2 cannot be");
  EXPECT(tca_world_join(0, 1, NULL, NULL, &world), TCA_INVALID_ARGUMENT, "the key is NULL");
  EXPECT(tca_world_init(NULL, NULL), TCA_INVALID_ARGUMENT, "the place for the result is NULL");
  EXPECT(tca_world_from_mpi_handle(NULL, 8, "Open MPI", NULL, &world), TCA_INVALID_ARGUMENT, "is NULL");
  const int no_communicator = 0;
  const tca_status other =
      tca_world_from_mpi_handle(&no_communicator, sizeof no_communicator, "another MPI", NULL, &world);
  REQUIRE(other == TCA_INCOMPATIBLE || other == TCA_INVALID_ARGUMENT, "%s", tca_last_message());

  EXPECT(tca_world_run_threads(2, fails_in_a_call, NULL, NULL), TCA_INVALID_ARGUMENT, "-7");
  tca_status own = TCA_DEVICE_FAILED;
  EXPECT(tca_world_run_threads(2, fails_by_itself, &own, NULL), TCA_DEVICE_FAILED,
         "rank 1 returned device_failed");
  tca_error error = TCA_ERROR_INIT;
  TRY(tca_last_error(&error));
  REQUIRE(error.rank == 1, "rank %d failed", error.rank);
  own = TCA_PATH_LOST;
  EXPECT(tca_world_run_threads(2, fails_by_itself, &own, NULL), TCA_PATH_LOST, "rank 1 returned path_lost");
  EXPECT(tca_world_run_threads(2, fails_with_words, NULL, NULL), TCA_OUT_OF_MEMORY, "the mesh is too large");
  EXPECT(tca_fail(TCA_OK, "fine"), TCA_INVALID_ARGUMENT, "tca_fail: 0 is no status of an error");
  EXPECT(tca_fail(TCA_INTERNAL, NULL), TCA_INVALID_ARGUMENT, "tca_fail: the message is NULL");
  own = TCA_UNFINISHED;
  EXPECT(tca_world_run_threads(2, fails_by_itself, &own, NULL), TCA_INTERNAL, "rank 1 returned unfinished");
  return TCA_OK;
}

static tca_status names(void) {
  REQUIRE(tca_last_message()[0] == 0, "there is an error before any call: %s", tca_last_message());
  REQUIRE(strcmp(tca_status_name(TCA_OK), "ok") == 0, "TCA_OK");
  REQUIRE(strcmp(tca_status_name(TCA_TIMED_OUT), "timed_out") == 0, "TCA_TIMED_OUT");
  REQUIRE(strcmp(tca_status_name(TCA_INTERNAL), "internal") == 0, "TCA_INTERNAL");
  REQUIRE(tca_library_version()[0] >= '0', "'%s'", tca_library_version());
  return TCA_OK;
}

int test_refusals(way how) {
  if (names() != TCA_OK) return 0;
  if (how == THREADS && (worlds() != TCA_OK || layouts_and_grids() != TCA_OK)) return 0;
  return run_ranks(how, 2, pointers, NULL) && run_ranks(how, 2, patterns, NULL) &&
         run_ranks(how, 2, refused, NULL);
}
