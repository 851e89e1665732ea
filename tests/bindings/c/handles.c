// NULL, stale and foreign handles are refused with words, by every kind of call.
#include <stdint.h>
#include <stdlib.h>

#include "check.h"
#include "ranks.h"

static tca_world* kept_world;

static tca_status null_ones(void) {
  tca_layout one = {0, 1, 0, {{0, 0}, {0, 0}, {0, 0}}};
  tca_window* window;
  tca_chain* chain;
  int number;
  EXPECT(tca_world_rank(NULL, &number), TCA_INVALID_ARGUMENT, "tca_world_rank: the world is NULL");
  EXPECT(tca_world_barrier(NULL), TCA_INVALID_ARGUMENT, "the world is NULL");
  EXPECT(tca_window_create(NULL, 1, 1, "u", &window), TCA_INVALID_ARGUMENT, "the world is NULL");
  EXPECT(tca_window_elements_on(NULL, 0, NULL), TCA_INVALID_ARGUMENT, "NULL");
  EXPECT(tca_chain_create(NULL, "c", NULL, &chain), TCA_INVALID_ARGUMENT, "the world is NULL");
  EXPECT(tca_chain_put(NULL, tca_at(NULL, 0, 0), &one, tca_here(NULL, 0), NULL), TCA_INVALID_ARGUMENT,
         "the chain is NULL");
  EXPECT(tca_chain_run(NULL), TCA_INVALID_ARGUMENT, "tca_chain_run: the chain is NULL");
  EXPECT(tca_chain_test(NULL), TCA_INVALID_ARGUMENT, "tca_chain_test: the chain is NULL");
  EXPECT(tca_halo_wait(NULL), TCA_INVALID_ARGUMENT, "tca_halo_wait: the halo is NULL");
  EXPECT(tca_collective_start(NULL), TCA_INVALID_ARGUMENT, "the collective is NULL");
  TRY(tca_world_free(NULL));
  TRY(tca_window_free(NULL));
  TRY(tca_chain_free(NULL));
  TRY(tca_halo_free(NULL));
  return tca_collective_free(NULL);
}

static tca_status foreign_ones(tca_world* world) {
  tca_window* window;
  tca_chain* chain;
  int number;
  TRY(tca_window_create(world, 1, 1, "u", &window));
  TRY(tca_chain_create(world, "c", NULL, &chain));
  EXPECT(tca_chain_start((tca_chain*)(void*)window), TCA_INVALID_ARGUMENT, "this is a window, and no chain");
  EXPECT(tca_window_free((tca_window*)(void*)chain), TCA_INVALID_ARGUMENT, "this is a chain, and no window");
  EXPECT(tca_chain_start((tca_chain*)(void*)&number), TCA_INVALID_ARGUMENT,
         "is no chain of this process; was it set?");
  EXPECT(tca_chain_start((tca_chain*)(uintptr_t)-1), TCA_INVALID_ARGUMENT, "is no chain of this process");
  unsigned random = seed;
  for (int i = 0; i < 10000; ++i) {
    const uintptr_t bits = (uintptr_t)random_below(&random, 1 << 24) << 40 ^
                           (uintptr_t)random_below(&random, 1 << 24) << 20 ^
                           (uintptr_t)random_below(&random, 1 << 24);
    const tca_status status = tca_world_rank((tca_world*)bits, &number);
    REQUIRE(status == TCA_INVALID_ARGUMENT || (tca_world*)bits == world, "%#zx is a world", (size_t)bits);
  }
  TRY(tca_chain_free(chain));
  return tca_window_free(window);
}

// A handle stays stale when its slot is used again.
static tca_status stale_ones(tca_world* world) {
  tca_window *window, *other;
  tca_chain *chain, *next;
  tca_post* post;
  tca_region* region;
  tca_notices* notices;
  TRY(tca_window_create(world, 1, 1, "u", &window));
  TRY(tca_chain_create(world, "c", NULL, &chain));
  TRY(tca_chain_free(chain));
  EXPECT(tca_chain_start(chain), TCA_INVALID_ARGUMENT, "tca_chain_start: this chain has been freed");
  EXPECT(tca_chain_free(chain), TCA_INVALID_ARGUMENT, "this chain has been freed");
  for (int i = 0; i < 3; ++i) {
    TRY(tca_chain_create(world, "c", NULL, &next));
    REQUIRE(next != chain, "two chains have one handle");
    EXPECT(tca_chain_wait(chain), TCA_INVALID_ARGUMENT, "this chain has been freed");
    TRY(tca_chain_free(next));
  }
  TRY(tca_post_create(world, NULL, &post));
  TRY(tca_post_free(post));
  EXPECT(tca_post_start(post), TCA_INVALID_ARGUMENT, "tca_post_start: this post has been freed");
  TRY(tca_region_create(world, 8, &region));
  EXPECT(tca_post_start((tca_post*)region), TCA_INVALID_ARGUMENT, "this is a region, and no post");
  TRY(tca_region_free(region));
  EXPECT(tca_region_data(region, NULL), TCA_INVALID_ARGUMENT, "this region has been freed");
  TRY(tca_notices_create(world, &notices));
  TRY(tca_notices_free(notices));
  EXPECT(tca_notices_wait(notices, 0, 0, 0), TCA_INVALID_ARGUMENT, "this set of notices has been freed");
  TRY(tca_window_free(window));
  TRY(tca_window_create(world, 1, 1, "v", &other));
  EXPECT(tca_window_data(window, NULL), TCA_INVALID_ARGUMENT, "");
  EXPECT(tca_window_free(window), TCA_INVALID_ARGUMENT, "this window has been freed");
  return tca_window_free(other);
}

// Many at a time, each with a handle of its own, in and out of order.
static tca_status many(tca_world* world) {
  enum { COUNT = 3000 };
  static tca_chain* chains[COUNT];
  for (int i = 0; i < COUNT; ++i) TRY(tca_chain_create(world, "many", NULL, &chains[i]));
  for (int i = 0; i < COUNT; ++i) TRY(tca_chain_signal(chains[i], 0));
  for (int i = 0; i < COUNT; ++i) TRY(tca_chain_free(chains[i]));
  for (int i = 0; i < COUNT; ++i)
    EXPECT(tca_chain_signal(chains[i], 0), TCA_INVALID_ARGUMENT, "has been freed");
  return TCA_OK;
}

// A put between windows of different worlds, and of a window that was freed.
static tca_status of_another_world(tca_world* world) {
  tca_world* group;
  tca_window *outside, *inside;
  tca_chain* chain;
  tca_halo* halo;
  tca_grid grid;
  tca_layout one;
  const int shape[] = {1}, periodic[] = {1};
  const int64_t cells[] = {4};
  TRY(tca_world_split(world, 0, 0, &group));
  TRY(tca_window_create(world, 8, 8, "outside", &outside));
  TRY(tca_window_create(group, 8, 8, "inside", &inside));
  TRY(tca_chain_create(group, "c", NULL, &chain));
  TRY(tca_layout_block(1, &one));
  EXPECT(tca_chain_put(chain, tca_at(inside, 0, 0), &one, tca_here(outside, 0), NULL), TCA_INVALID_ARGUMENT,
         "the source is a window of another world");
  EXPECT(tca_chain_put(chain, tca_at(outside, 0, 0), &one, tca_here(inside, 0), NULL), TCA_INVALID_ARGUMENT,
         "the target is a window of another world");
  TRY(tca_grid_create(1, 1, shape, periodic, NULL, &grid));
  TRY(tca_halo_create(group, "h", &grid, cells, NULL, &halo));
  TRY(tca_halo_add(halo, outside, 0));
  EXPECT(tca_halo_commit(halo), TCA_INVALID_ARGUMENT, "a window of another world");
  TRY(tca_window_free(inside));
  EXPECT(tca_chain_put(chain, tca_at(inside, 0, 0), &one, tca_here(inside, 0), NULL), TCA_INVALID_ARGUMENT,
         "tca_chain_put: this window has been freed");
  // What was made in a world keeps it.
  TRY(tca_world_free(group));
  EXPECT(tca_world_barrier(group), TCA_INVALID_ARGUMENT, "this world has been freed");
  TRY(tca_chain_signal(chain, 0));
  TRY(tca_chain_expect(chain, 0));
  TRY(tca_chain_commit(chain));
  TRY(tca_chain_run(chain));
  TRY(tca_halo_free(halo));
  TRY(tca_chain_free(chain));
  return tca_window_free(outside);
}

static tca_status keeps(tca_world* world, void* context) {
  (void)context;
  kept_world = world;
  EXPECT(tca_world_free(world), TCA_INVALID_ARGUMENT, "belongs to tca_world_run_threads");
  TRY(foreign_ones(world));
  TRY(stale_ones(world));
  TRY(many(world));
  return of_another_world(world);
}

// What a body leaves behind is refused like other handles, or may be freed.
static tca_chain* left_chain;
static tca_window* left_window;
static tca_status leaves(tca_world* world, void* context) {
  (void)context;
  TRY(tca_window_create(world, 1, 1, "left", &left_window));
  return tca_chain_create(world, "left", NULL, &left_chain);
}

static tca_status after(void) {
  int number;
  EXPECT(tca_world_rank(kept_world, &number), TCA_INVALID_ARGUMENT, "this world has been freed");
  if (!run_ranks(THREADS, 1, leaves, NULL)) return TCA_INTERNAL;
  TRY(tca_chain_free(left_chain));
  return tca_window_free(left_window);
}

int test_handles(way how) {
  return null_ones() == TCA_OK && run_ranks(how, 1, keeps, NULL) && after() == TCA_OK;
}
