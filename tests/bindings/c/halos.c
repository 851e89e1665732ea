// Ghosts against the function that the whole array is filled with.
#include "check.h"
#include "ranks.h"

enum { MOST = 4096 };

typedef struct array {
  int dims;
  int64_t whole[3];
  int periodic[3];
  tca_ghost_width width[3];
  int corners;
  int by_wait;  // start and wait_for, where it is not run
} array;

static double value_of(const int64_t* cell, int dims, int step) {
  double value = step;
  for (int d = 0; d < dims; ++d) value = 100 * value + (double)cell[d];
  return value;
}

// Counts cells up, the last dimension first. Returns whether there is another.
static int next_cell(const array* all, const int64_t* low, const int64_t* high, int64_t* cell) {
  for (int d = all->dims - 1; d >= 0; --d) {
    if (++cell[d] < high[d]) return 1;
    cell[d] = low[d];
  }
  return 0;
}

// Where a cell of this rank's is in the whole array, and whether an exchange fills it; -1 for what stays as
// it is.
static int place(const array* all, const int64_t* begin, const int64_t* size, const int64_t* cell,
                 int64_t* global) {
  int outside = 0;
  for (int d = 0; d < all->dims; ++d) {
    global[d] = begin[d] + cell[d];
    outside += cell[d] < 0 || cell[d] >= size[d];
    if (all->periodic[d]) global[d] = (global[d] + all->whole[d]) % all->whole[d];
    if (global[d] < 0 || global[d] >= all->whole[d]) return -1;
  }
  return outside > 1 && !all->corners ? -1 : outside;
}

static tca_status check_steps(const array* all, tca_halo* halo, tca_window* u, const int64_t* begin,
                              const int64_t* size, int64_t elements) {
  int64_t low[3], high[3], cell[3], global[3], at;
  double field[MOST];
  for (int d = 0; d < all->dims; ++d) {
    low[d] = -all->width[d].low;
    high[d] = size[d] + all->width[d].high;
  }
  for (int step = 1; step <= 2; ++step) {
    for (int64_t i = 0; i < elements; ++i) field[i] = -1;
    for (int go = memcpy(cell, low, sizeof low) != NULL; go; go = next_cell(all, low, high, cell)) {
      if (place(all, begin, size, cell, global) != 0) continue;
      TRY(tca_halo_index(halo, cell, &at));
      field[at] = value_of(global, all->dims, step);
    }
    TRY(tca_window_write(u, 0, elements, field));
    if (all->by_wait) {
      TRY(tca_halo_start(halo));
      while (tca_halo_test(halo) == TCA_UNFINISHED && tca_halo_wait_for(halo, 0.001) == TCA_UNFINISHED) {
      }
      TRY(tca_halo_wait(halo));
    } else {
      TRY(tca_halo_run(halo));
    }
    TRY(tca_window_read(u, 0, elements, field));
    for (int go = memcpy(cell, low, sizeof low) != NULL; go; go = next_cell(all, low, high, cell)) {
      const double expected =
          place(all, begin, size, cell, global) < 0 ? -1 : value_of(global, all->dims, step);
      TRY(tca_halo_index(halo, cell, &at));
      REQUIRE(field[at] == expected, "cell (%lld, %lld, ...) is %g, not %g", (long long)cell[0],
              (long long)cell[1], field[at], expected);
    }
  }
  return TCA_OK;
}

static tca_status exchange(tca_world* world, void* context) {
  const array* all = context;
  int me, ranks;
  TRY(tca_world_rank(world, &me));
  TRY(tca_world_size(world, &ranks));
  tca_grid grid;
  TRY(tca_grid_choose(ranks, all->dims, all->whole, all->periodic, &grid));
  int64_t begin[3], size[3], extents[3], elements;
  for (int d = 0; d < all->dims; ++d) TRY(tca_grid_part(&grid, me, d, all->whole[d], &begin[d], &size[d]));
  tca_halo_options options = TCA_HALO_OPTIONS_INIT;
  tca_chain_options chain = TCA_CHAIN_OPTIONS_INIT;
  chain.time_limit = 15;
  options.width = options.exchange = all->width;
  options.chain = &chain;
  options.corners = all->corners;
  tca_halo* halo;
  tca_window* u;
  TRY(tca_halo_create(world, "u", &grid, size, &options, &halo));
  TRY(tca_halo_extents(halo, extents));
  TRY(tca_halo_elements(halo, &elements));
  int64_t product = 1;
  for (int d = 0; d < all->dims; ++d) {
    REQUIRE(extents[d] == size[d] + all->width[d].low + all->width[d].high, "dimension %d has %lld", d,
            (long long)extents[d]);
    product *= extents[d];
  }
  REQUIRE(elements == product && elements <= MOST, "%lld elements", (long long)elements);
  TRY(tca_window_create(world, elements, sizeof(double), "u", &u));
  TRY(tca_halo_add(halo, u, 0));
  TRY(tca_halo_commit(halo));
  TRY(check_steps(all, halo, u, begin, size, elements));
  const char* text;
  TRY(tca_halo_explain(halo, &text));
  REQUIRE(text[0] != 0, "nothing is said of it");
  TRY(tca_halo_free(halo));
  return tca_window_free(u);
}

// Two numbers an element in a ring of single cells: each gathers the shares that its neighbours' ghosts of it
// have.
static tca_status fold(tca_world* world, void* context) {
  (void)context;
  const int periodic = 1;
  const int64_t one = 1;
  int64_t elements;
  int me, ranks, shape;
  TRY(tca_world_rank(world, &me));
  TRY(tca_world_size(world, &ranks));
  shape = ranks;
  tca_grid grid;
  tca_halo* halo;
  tca_window* u;
  tca_fold* back;
  TRY(tca_grid_create(ranks, 1, &shape, &periodic, NULL, &grid));
  TRY(tca_halo_create(world, "ring", &grid, &one, NULL, &halo));
  TRY(tca_halo_elements(halo, &elements));
  TRY(tca_window_create(world, elements, 2 * sizeof(int32_t), "u", &u));
  TRY(tca_fold_create(world, "back", halo, NULL, &back));
  REQUIRE(tca_fold_add(back, u, 0, TCA_INT32, 17) == TCA_INVALID_ARGUMENT, "17 is no operation");
  TRY(tca_fold_add(back, u, 0, TCA_INT32, TCA_SUM));
  TRY(tca_fold_commit(back));
  TRY(tca_halo_free(halo));
  for (int step = 1; step <= 3; ++step) {
    int32_t field[3][2];  // the ghost below, the cell, and the ghost above
    for (int i = 0; i < 3; ++i) {
      field[i][0] = 100 * step + 10 * me + i;
      field[i][1] = -field[i][0];
    }
    const int32_t below = 100 * step + 10 * ((me + ranks - 1) % ranks) + 2,
                  above = 100 * step + 10 * ((me + 1) % ranks), sum = field[1][0] + below + above;
    TRY(tca_window_write(u, 0, 3, field));
    if (step == 2) {
      TRY(tca_fold_start(back));
      while (tca_fold_test(back) == TCA_UNFINISHED && tca_fold_wait_for(back, 0.001) == TCA_UNFINISHED) {
      }
      TRY(tca_fold_wait(back));
    } else {
      TRY(tca_fold_run(back));
    }
    TRY(tca_window_read(u, 0, 3, field));
    REQUIRE(field[1][0] == sum && field[1][1] == -sum, "step %d: %d and %d, not %d", step, field[1][0],
            field[1][1], sum);
    REQUIRE(field[0][0] == 100 * step + 10 * me, "a ghost is %d now", field[0][0]);
  }
  REQUIRE(tca_fold_start_on(back, NULL) == TCA_INVALID_ARGUMENT, "there are no streams");
  REQUIRE(tca_fold_wait_on(back, NULL) == TCA_INVALID_ARGUMENT, "there are no streams");
  REQUIRE(tca_fold_run_on(back, NULL) == TCA_INVALID_ARGUMENT, "there are no streams");
  const char* text;
  TRY(tca_fold_explain(back, &text));
  REQUIRE(text[0] != 0, "nothing is said of it");
  TRY(tca_fold_free(back));
  REQUIRE(tca_fold_start(back) == TCA_INVALID_ARGUMENT, "it was freed");
  return tca_window_free(u);
}

// Grids know where ranks are.
static tca_status grids(tca_world* world, void* context) {
  (void)world, (void)context;
  const int shape[] = {2, 0}, periodic[] = {1, 0};
  const int64_t extents[] = {100, 100};
  tca_grid grid;
  int at[2], rank, neighbour;
  TRY(tca_grid_create(6, 2, shape, periodic, extents, &grid));
  REQUIRE(grid.shape[0] == 2 && grid.shape[1] == 3 && grid.periodic[0] && !grid.periodic[1], "another grid");
  TRY(tca_grid_coordinates(&grid, 5, at));
  REQUIRE(at[0] == 1 && at[1] == 2, "rank 5 is at %d, %d", at[0], at[1]);
  TRY(tca_grid_rank_at(&grid, at, &rank));
  REQUIRE(rank == 5, "rank %d is there", rank);
  const int down[] = {1, 0}, right[] = {0, 1};
  TRY(tca_grid_neighbour(&grid, 5, down, &neighbour));
  REQUIRE(neighbour == 2, "%d", neighbour);
  TRY(tca_grid_neighbour(&grid, 5, right, &neighbour));
  REQUIRE(neighbour == -1, "%d", neighbour);
  return TCA_OK;
}

int test_halos(way how) {
  array line = {.dims = 1, .whole = {11}, .periodic = {1}, .width = {{2, 1}}, .by_wait = 1};
  array plane = {.dims = 2, .whole = {9, 7}, .periodic = {1, 0}, .width = {{1, 1}, {2, 1}}, .corners = 1};
  array box = {.dims = 3, .whole = {6, 6, 5}, .periodic = {0, 1, 1}, .width = {{1, 1}, {1, 1}, {1, 1}}};
  return run_ranks(how, 1, grids, NULL) && run_ranks(how, 2, exchange, &line) &&
         run_ranks(how, 4, exchange, &plane) && run_ranks(how, 4, exchange, &box) &&
         run_ranks(how, 3, fold, NULL);
}
