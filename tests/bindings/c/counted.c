// Counted puts, of chains and of halos, and rounds of them: what comes is what was sent, and as much of it.
#include "check.h"
#include "ranks.h"

enum { ROOM = 40, STEPS = 8, MANY = 130 };

// How many elements a rank sends in a step, in rows of two; the same on every rank.
static int64_t length_of(int rank, int step) {
  unsigned state = seed + 77u * (unsigned)rank + 13u * (unsigned)step;
  return 2 * random_below(&state, ROOM / 2 + 1);
}

typedef struct ring {
  int me, left, right;
  tca_window* out;
  tca_window* in;
  tca_chain* chain;
  tca_counted_put* sent;
  tca_counted_arrival* come;
} ring;

// Rows of two out of an array of three columns go into a block.
static tca_status make_ring(tca_world* world, ring* all) {
  int size;
  int64_t number;
  tca_layout rows, block;
  TRY(tca_world_rank(world, &all->me));
  TRY(tca_world_size(world, &size));
  all->right = (all->me + 1) % size;
  all->left = (all->me + size - 1) % size;
  TRY(tca_window_create(world, 3 * ROOM / 2, sizeof(int32_t), "out", &all->out));
  TRY(tca_window_create(world, ROOM + 1, sizeof(int32_t), "in", &all->in));
  TRY(tca_layout_block_stride(ROOM / 2, 2, 3, &rows));
  TRY(tca_layout_block(ROOM, &block));
  TRY(tca_chain_create(world, "ring", NULL, &all->chain));
  TRY(tca_chain_put_counted(all->chain, tca_at(all->in, all->right, 1), &block, tca_here(all->out, 0), &rows,
                            &all->sent));
  TRY(tca_chain_expect_counted(all->chain, all->left, &all->come));
  TRY(tca_counted_arrival_capacity(all->come, &number));
  REQUIRE(number == 0, "%lld before the commit", (long long)number);
  TRY(tca_chain_commit(all->chain));
  TRY(tca_counted_arrival_capacity(all->come, &number));
  REQUIRE(number == ROOM, "a capacity of %lld", (long long)number);
  TRY(tca_counted_put_capacity(all->sent, &number));
  return number == ROOM ? TCA_OK : TCA_INTERNAL;
}

static tca_status free_ring(ring* all) {
  TRY(tca_chain_free(all->chain));
  TRY(tca_counted_put_free(all->sent));  // after its chain, as may be
  TRY(tca_counted_arrival_free(all->come));
  TRY(tca_window_free(all->out));
  return tca_window_free(all->in);
}

static tca_status check_step(const ring* all, int step, const int32_t* before) {
  int32_t have[ROOM + 1];
  int64_t count;
  TRY(tca_counted_arrival_count(all->come, &count));
  REQUIRE(count == length_of(all->left, step), "%lld have come in step %d", (long long)count, step);
  TRY(tca_window_read(all->in, 0, ROOM + 1, have));
  for (int64_t i = 0; i < ROOM; ++i) {
    const int32_t expected =
        i < count ? (int32_t)(1000 * all->left + 100 * step + i / 2 * 3 + i % 2) : before[i + 1];
    REQUIRE(have[i + 1] == expected, "element %lld is %d, not %d", (long long)i, have[i + 1], expected);
  }
  return TCA_OK;
}

static tca_status refuses_lengths(const ring* all) {
  int64_t number;
  int rank;
  TRY(tca_counted_put_length(all->sent, &number));
  EXPECT(tca_counted_put_set(all->sent, ROOM + 2), TCA_INVALID_ARGUMENT, "ring");
  EXPECT(tca_counted_put_set(all->sent, -1), TCA_INVALID_ARGUMENT, "-1");
  EXPECT(tca_counted_put_set(all->sent, 3), TCA_INVALID_ARGUMENT, "3");
  const int64_t before = number;
  TRY(tca_counted_put_length(all->sent, &number));
  REQUIRE(number == before, "the length is now %lld", (long long)number);
  TRY(tca_counted_put_rank(all->sent, &rank));
  REQUIRE(rank == all->right, "it goes to %d", rank);
  TRY(tca_counted_arrival_rank(all->come, &rank));
  REQUIRE(rank == all->left, "it comes from %d", rank);
  EXPECT(tca_counted_put_set((tca_counted_put*)all->come, 1), TCA_INVALID_ARGUMENT,
         "this is a counted arrival, and no counted put");
  return TCA_OK;
}

static tca_status lengths_of_steps(tca_world* world, void* context) {
  (void)context;
  ring all;
  int32_t out[3 * ROOM / 2], before[ROOM + 1];
  TRY(make_ring(world, &all));
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < 3 * ROOM / 2; ++i) out[i] = 1000 * all.me + 100 * step + i;
    TRY(tca_window_write(all.out, 0, 3 * ROOM / 2, out));
    TRY(tca_window_read(all.in, 0, ROOM + 1, before));
    TRY(tca_counted_put_set(all.sent, length_of(all.me, step)));
    TRY(tca_chain_run(all.chain));
    TRY(check_step(&all, step, before));
  }
  TRY(refuses_lengths(&all));
  return free_ring(&all);
}

// What does not fit into one step: MANY numbers and more, by rank.
typedef struct stream {
  ring all;
  int64_t sent, come;
  int is_right, fails;
} stream;

static int64_t all_of(int rank) { return MANY + 50 * rank; }

static tca_status load(void* context, int* has_more) {
  stream* one = context;
  int32_t out[3 * ROOM / 2] = {0};
  const int64_t rest = all_of(one->all.me) - one->sent, now = rest < ROOM ? rest : ROOM;
  if (one->fails) return tca_fail(TCA_REFUSED, "the program's own reason");
  for (int64_t i = 0; i < now; ++i) out[i / 2 * 3 + i % 2] = (int32_t)(10000 * one->all.me + one->sent + i);
  TRY(tca_window_write(one->all.out, 0, 3 * ROOM / 2, out));
  TRY(tca_counted_put_set(one->all.sent, now));
  one->sent += now;
  *has_more = one->sent < all_of(one->all.me);
  return TCA_OK;
}

static tca_status unload(void* context) {
  stream* one = context;
  int32_t have[ROOM + 1];
  int64_t count;
  TRY(tca_counted_arrival_count(one->all.come, &count));
  TRY(tca_window_read(one->all.in, 0, ROOM + 1, have));
  for (int64_t i = 0; i < count; ++i)
    one->is_right &= have[i + 1] == (int32_t)(10000 * one->all.left + one->come + i);
  one->come += count;
  return TCA_OK;
}

static tca_status nothing(void* context, int* has_more) {
  (void)context;
  *has_more = 0;
  return TCA_OK;
}

static tca_status more_than_fits(tca_world* world, void* context) {
  (void)context;
  stream one = {.is_right = 1};
  tca_rounds* rounds;
  int size, count = 0;
  TRY(tca_world_size(world, &size));
  TRY(make_ring(world, &one.all));
  TRY(tca_rounds_of_chain(world, "rounds", one.all.chain, &rounds));
  TRY(tca_rounds_run(rounds, load, unload, &one, &count));
  REQUIRE(one.is_right && one.come == all_of(one.all.left), "%lld have come", (long long)one.come);
  REQUIRE(count == (all_of(size - 1) + ROOM - 1) / ROOM, "%d rounds", count);
  EXPECT(tca_rounds_run(rounds, NULL, unload, &one, &count), TCA_INVALID_ARGUMENT, "load or unload is NULL");
  one.fails = 1;
  EXPECT(tca_rounds_run(rounds, load, unload, &one, &count), TCA_REFUSED, "the program's own reason");
  TRY(free_ring(&one.all));
  EXPECT(tca_rounds_run(rounds, nothing, unload, &one, &count), TCA_INVALID_ARGUMENT, "has been freed");
  return tca_rounds_free(rounds);
}

// Queues for the neighbours in a row of ranks, whose ends have one each.
static tca_status queues(tca_world* world, void* context) {
  (void)context;
  enum { CELLS = 12 };
  int me, size, shape[] = {0};
  const int up[] = {1}, down[] = {-1}, wrong[] = {2};
  const int64_t interior[] = {2 * CELLS};
  const tca_ghost_width width[] = {{CELLS, CELLS}};
  tca_halo_options options = TCA_HALO_OPTIONS_INIT;
  tca_grid grid;
  tca_halo* halo;
  tca_window* u;
  tca_counted_put *to, *none;
  tca_counted_arrival* from;
  int64_t elements, count, ghost;
  double cells[4 * CELLS] = {0};
  TRY(tca_world_rank(world, &me));
  TRY(tca_world_size(world, &size));
  TRY(tca_grid_create(size, 1, shape, NULL, NULL, &grid));
  options.width = width;
  TRY(tca_halo_create(world, "queues", &grid, interior, &options, &halo));
  TRY(tca_halo_elements(halo, &elements));
  TRY(tca_window_create(world, elements, sizeof(double), "u", &u));
  TRY(tca_halo_add_counted(halo, u, 0));
  EXPECT(tca_halo_to(halo, 0, up, &to), TCA_INVALID_ARGUMENT, "queues");
  TRY(tca_halo_commit(halo));
  TRY(tca_halo_to(halo, 0, up, &to));
  TRY(tca_halo_from(halo, 0, down, &from));
  REQUIRE((to == NULL) == (me == size - 1) && (from == NULL) == (me == 0), "the ends of the row");
  EXPECT(tca_halo_to(halo, -1, up, &none), TCA_INVALID_ARGUMENT, "counted from 0");
  EXPECT(tca_halo_to(halo, 1, up, &none), TCA_INVALID_ARGUMENT, "field");
  EXPECT(tca_halo_to(halo, 0, wrong, &none), TCA_INVALID_ARGUMENT, "2");
  for (int i = 0; i < 4 * CELLS; ++i) cells[i] = 100 * me + i;
  TRY(tca_window_write(u, 0, elements, cells));
  if (to != NULL) TRY(tca_counted_put_set(to, 3 + me));
  TRY(tca_halo_run(halo));
  if (from != NULL) {
    TRY(tca_counted_arrival_count(from, &count));
    REQUIRE(count == 3 + me - 1, "%lld have come", (long long)count);
    const int64_t below = -CELLS;
    TRY(tca_halo_index(halo, &below, &ghost));
    TRY(tca_window_read(u, ghost, CELLS, cells));
    for (int i = 0; i < CELLS; ++i)
      REQUIRE(cells[i] == (i < count ? 100 * (me - 1) + 2 * CELLS + i : 100 * me + i), "ghost %d is %g", i,
              cells[i]);
  }
  TRY(tca_halo_free(halo));
  TRY(tca_counted_put_free(to));
  TRY(tca_counted_arrival_free(from));
  return tca_window_free(u);
}

int test_counted(way how) {
  return run_ranks(how, 2, lengths_of_steps, NULL) && run_ranks(how, 3, more_than_fits, NULL) &&
         run_ranks(how, 3, queues, NULL);
}
