// Random chains against a copy made by hand: every rank knows the puts of all, and what should arrive where.
#include <stdlib.h>

#include "check.h"
#include "ranks.h"

// A part of a window for what comes from each rank, and one behind them for what is sent. No put of a chain
// meets another one.
enum {
  ZONE = 48,
  MOST_RANKS = 4,
  ELEMENTS = ZONE * (MOST_RANKS + 1),
  MOST_MOVED = 32,
  STEPS = 3,
  CHAINS = 6
};

// A layout, and the same elements listed one by one.
typedef struct elements {
  tca_layout layout;
  int64_t at[MOST_MOVED];
  int64_t count;
} elements;

static tca_status make_block(unsigned* random, elements* all) {
  all->count = random_below(random, MOST_MOVED + 1);
  for (int64_t i = 0; i < all->count; ++i) all->at[i] = i;
  return tca_layout_block(all->count, &all->layout);
}

static tca_status make_rows(unsigned* random, elements* all) {
  const int64_t rows = 1 + random_below(random, 4), block = 1 + random_below(random, 4);
  const int64_t pitch = block + random_below(random, 5);
  for (int64_t i = 0; i < rows * block; ++i) all->at[i] = i / block * pitch + i % block;
  all->count = rows * block;
  return tca_layout_block_stride(rows, block, pitch, &all->layout);
}

static tca_status make_stride(unsigned* random, elements* all) {
  const int64_t pitch = 1 + random_below(random, 4);
  all->count = 1 + random_below(random, 10);
  for (int64_t i = 0; i < all->count; ++i) all->at[i] = i * pitch;
  return tca_layout_stride(all->count, pitch, &all->layout);
}

static tca_status make_box(unsigned* random, elements* all) {
  const int64_t extents[] = {3, 4, 4};
  int64_t start[3], shape[3];
  for (int d = 0; d < 3; ++d) {
    start[d] = random_below(random, extents[d]);
    shape[d] = 1 + random_below(random, extents[d] - start[d]);
  }
  all->count = 0;
  for (int64_t i = 0; i < shape[0] && all->count < MOST_MOVED; ++i) {
    for (int64_t j = 0; j < shape[1]; ++j) {
      for (int64_t k = 0; k < shape[2] && all->count < MOST_MOVED; ++k)
        all->at[all->count++] = ((start[0] + i) * 4 + start[1] + j) * 4 + start[2] + k;
    }
  }
  if (all->count < shape[0] * shape[1] * shape[2]) return make_block(random, all);
  return tca_layout_subarray(3, extents, start, shape, &all->layout);
}

// A layout without a builder: runs of two, three of them 3 apart, and that twice, 12 apart.
static tca_status make_by_hand(unsigned* random, elements* all) {
  const tca_layout layout = {random_below(random, 8), 2, 2, {{3, 3}, {2, 12}, {0, 0}}};
  all->count = 0;
  for (int64_t i = 0; i < 12; ++i) all->at[all->count++] = layout.first + i / 6 * 12 + i / 2 % 3 * 3 + i % 2;
  all->layout = layout;
  return TCA_OK;
}

static tca_status make_elements(unsigned* random, elements* all) {
  switch (random_below(random, 5)) {
    case 0:
      return make_block(random, all);
    case 1:
      return make_rows(random, all);
    case 2:
      return make_stride(random, all);
    case 3:
      return make_box(random, all);
    default:
      return make_by_hand(random, all);
  }
}

typedef struct put {
  int is_there;
  elements from, to;
} put;

static tca_status make_put(unsigned* random, put* one) {
  one->is_there = random_below(random, 3) > 0;
  TRY(make_elements(random, &one->from));
  one->to = one->from;
  if (random_below(random, 2) == 0) return TCA_OK;
  // Gathered into a block.
  one->to.count = one->from.count;
  for (int64_t i = 0; i < one->to.count; ++i) one->to.at[i] = i;
  return tca_layout_block(one->to.count, &one->to.layout);
}

static int32_t value_of(int rank, int step, int64_t element) {
  return (int32_t)(100000 * rank + 1000 * step + element);
}

static tca_status step_by_some_call(tca_chain* chain, int step) {
  if (step == 0) return tca_chain_run(chain);
  TRY(tca_chain_start(chain));
  tca_status status = TCA_UNFINISHED;
  while (status == TCA_UNFINISHED)
    status = step == 1 ? tca_chain_test(chain) : tca_chain_wait_for(chain, 0.001);
  TRY(status);
  return tca_chain_wait(chain);
}

static tca_status run_steps(tca_window* u, tca_chain* chain, put puts[][MOST_RANKS], int me, int size) {
  int32_t expected[ELEMENTS] = {0}, have[ELEMENTS];
  for (int step = 0; step < STEPS; ++step) {
    for (int64_t i = 0; i < ZONE; ++i) expected[ZONE * MOST_RANKS + i] = value_of(me, step, i);
    TRY(tca_window_write(u, ZONE * MOST_RANKS, ZONE, expected + ZONE * MOST_RANKS));
    TRY(step_by_some_call(chain, step));
    for (int from = 0; from < size; ++from) {
      const put* one = &puts[from][me];
      for (int64_t i = 0; one->is_there && i < one->to.count; ++i)
        expected[from * ZONE + one->to.at[i]] = value_of(from, step, one->from.at[i]);
    }
    TRY(tca_window_read(u, 0, ELEMENTS, have));
    for (int64_t i = 0; i < ELEMENTS; ++i) {
      REQUIRE(have[i] == expected[i], "rank %d, step %d, element %lld: %d is there, not %d", me, step,
              (long long)i, have[i], expected[i]);
    }
  }
  return TCA_OK;
}

static tca_status random_chain(tca_world* world, unsigned* random, int me, int size) {
  put puts[MOST_RANKS][MOST_RANKS];
  tca_window* u;
  tca_chain* chain;
  TRY(tca_window_create(world, ELEMENTS, sizeof(int32_t), "u", &u));
  TRY(tca_chain_create(world, "random", NULL, &chain));
  for (int from = 0; from < size; ++from) {
    for (int to = 0; to < size; ++to) {
      put* one = &puts[from][to];
      TRY(make_put(random, one));
      if (!one->is_there) continue;
      if (to == me) TRY(tca_chain_expect(chain, from));
      if (from != me) continue;
      TRY(tca_chain_put(chain, tca_at(u, to, me * ZONE), &one->to.layout, tca_here(u, ZONE * MOST_RANKS),
                        &one->from.layout));
    }
  }
  TRY(tca_chain_commit(chain));
  TRY(run_steps(u, chain, puts, me, size));
  TRY(tca_window_free(u));  // in any order
  return tca_chain_free(chain);
}

static tca_status random_chains(tca_world* world, void* context) {
  (void)context;
  unsigned random = seed;
  int me, size;
  TRY(tca_world_rank(world, &me));
  TRY(tca_world_size(world, &size));
  for (int i = 0; i < CHAINS; ++i) TRY(random_chain(world, &random, me, size));
  return TCA_OK;
}

// Two unguarded chains with targets of their own take turns; what a chain says of itself.
static tca_status ping_pong(tca_world* world, void* context) {
  (void)context;
  int me;
  TRY(tca_world_rank(world, &me));
  tca_chain_options options = TCA_CHAIN_OPTIONS_INIT;
  options.unguarded = 1;
  options.time_limit = 15;
  tca_layout one;
  TRY(tca_layout_block(1, &one));
  tca_window* u;
  tca_chain* chains[2];
  TRY(tca_window_create(world, 4, sizeof(double), "u", &u));
  for (int turn = 0; turn < 2; ++turn) {
    TRY(tca_chain_create(world, turn == 0 ? "ping" : "pong", &options, &chains[turn]));
    TRY(tca_chain_put(chains[turn], tca_at(u, 1 - me, 2 + turn), &one, tca_here(u, turn), NULL));
    TRY(tca_chain_expect(chains[turn], 1 - me));
    TRY(tca_chain_commit(chains[turn]));
  }
  for (int step = 0; step < 20; ++step) {
    double mine = 10 * me + step, have = -1;
    TRY(tca_window_write(u, step % 2, 1, &mine));
    TRY(tca_chain_run(chains[step % 2]));
    TRY(tca_window_read(u, 2 + step % 2, 1, &have));
    REQUIRE(have == 10 * (1 - me) + step, "%g has arrived", have);
  }
  const char* text;
  TRY(tca_chain_name(chains[1], &text));
  REQUIRE(strcmp(text, "pong") == 0, "it is '%s'", text);
  TRY(tca_chain_explain(chains[1], &text));
  REQUIRE(strstr(text, "rank") != NULL, "it is '%s'", text);
  for (int turn = 0; turn < 2; ++turn) TRY(tca_chain_free(chains[turn]));
  return tca_window_free(u);
}

// An immediate put, which a chain of signals brings.
static tca_status immediate(tca_world* world, void* context) {
  (void)context;
  int me;
  TRY(tca_world_rank(world, &me));
  tca_window* u;
  tca_chain* bell;
  TRY(tca_window_create(world, 4, sizeof(double), NULL, &u));
  TRY(tca_chain_create(world, "bell", NULL, &bell));
  TRY(tca_chain_signal(bell, 1 - me));
  TRY(tca_chain_expect(bell, 1 - me));
  TRY(tca_chain_commit(bell));
  const double mine = 7.5 + me;
  double have = 0;
  TRY(tca_put_now(tca_at(u, 1 - me, 2), &mine));
  TRY(tca_chain_run(bell));
  TRY(tca_window_read(u, 2, 1, &have));
  REQUIRE(have == 7.5 + (1 - me), "%g has arrived", have);
  TRY(tca_chain_free(bell));
  return tca_window_free(u);
}

// Two of three ranks have a chain of which the third knows nothing.
static tca_status of_partners_only(tca_world* world, void* context) {
  (void)context;
  int me;
  TRY(tca_world_rank(world, &me));
  if (me == 2) return tca_world_barrier(world);
  tca_chain_options options = TCA_CHAIN_OPTIONS_INIT;
  options.partners_only = 1;
  options.reroute = 1;
  tca_chain* bell;
  TRY(tca_chain_create(world, "bell", &options, &bell));
  TRY(tca_chain_signal(bell, 1 - me));
  TRY(tca_chain_expect(bell, 1 - me));
  TRY(tca_chain_commit(bell));
  TRY(tca_chain_run(bell));
  TRY(tca_chain_free(bell));
  return tca_world_barrier(world);
}

int test_puts(way how) {
  return run_ranks(how, 2, random_chains, NULL) && run_ranks(how, MOST_RANKS, random_chains, NULL) &&
         run_ranks(how, 2, ping_pong, NULL) && run_ranks(how, 2, immediate, NULL) &&
         run_ranks(how, 3, of_partners_only, NULL);
}
