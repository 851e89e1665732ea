// The heat equation on a plate with a hot edge, distributed over all ranks, in C. Every rank checks its part
// against a run of the whole plate by itself.
//
//   cc -O2 heat.c $(pkg-config --cflags --libs opentca) -o heat
//   tca run -n 4 -- ./heat [cells along a side] [steps]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tca/tca.h"

// Ends this rank where a call fails; the others then see that it is lost.
static void check(tca_status status) {
  if (status == TCA_OK) return;
  fprintf(stderr, "heat: %s\n", tca_last_message());
  exit((int)status);
}

// Computes new temperatures in rows [i0, i1) and columns [j0, j1) of an array whose rows are `pitch` long.
static void step(const double* u, double* next, int64_t pitch, int64_t i0, int64_t i1, int64_t j0,
                 int64_t j1) {
  for (int64_t i = i0; i < i1; ++i) {
    for (int64_t j = j0; j < j1; ++j) {
      const double* at = u + i * pitch + j;
      next[i * pitch + j] = *at + 0.2 * (at[-pitch] + at[pitch] + at[-1] + at[1] - 4 * *at);
    }
  }
}

static double* zeroed(int64_t elements) {
  double* const memory = calloc((size_t)elements, sizeof *memory);
  if (memory == NULL) exit(TCA_OUT_OF_MEMORY);
  return memory;
}

static void copy_interior(double* u, const double* next, int64_t rows, int64_t columns) {
  for (int64_t i = 1; i <= rows; ++i)
    memcpy(u + i * (columns + 2) + 1, next + i * (columns + 2) + 1, (size_t)columns * sizeof *u);
}

// The whole plate on one rank: n x n cells and the fixed edge around them, whose row 0 is hot.
static double* whole_plate(int64_t n, int steps) {
  double *const u = zeroed((n + 2) * (n + 2)), *const next = zeroed((n + 2) * (n + 2));
  for (int64_t j = 0; j < n + 2; ++j) u[j] = 100;
  for (int s = 0; s < steps; ++s) {
    step(u, next, n + 2, 1, n + 1, 1, n + 1);
    copy_interior(u, next, n, n);
  }
  free(next);
  return u;
}

// My cells of the plate, with a ghost cell on every side. At the rim of the plate the ghosts are its fixed
// edge.
typedef struct plate {
  tca_halo* halo;
  tca_window* window;
  int64_t first[2], size[2];
  double* u;
} plate;

static plate make_plate(tca_world* world, int64_t n) {
  plate my;
  tca_grid grid;
  int rank, size;
  const int64_t whole[2] = {n, n};
  check(tca_world_rank(world, &rank));
  check(tca_world_size(world, &size));
  check(tca_grid_choose(size, 2, whole, NULL, &grid));
  for (int d = 0; d < 2; ++d) check(tca_grid_part(&grid, rank, d, n, &my.first[d], &my.size[d]));

  int64_t elements;
  void* data;
  check(tca_halo_create(world, "heat", &grid, my.size, NULL, &my.halo));
  check(tca_halo_elements(my.halo, &elements));
  check(tca_window_create(world, elements, sizeof(double), "plate", &my.window));
  check(tca_halo_add(my.halo, my.window, 0));
  check(tca_halo_commit(my.halo));
  check(tca_window_data(my.window, &data));
  my.u = data;
  for (int64_t j = 0; my.first[0] == 0 && j < my.size[1] + 2; ++j) my.u[j] = 100;
  return my;
}

static void run(const plate* my, int steps) {
  const int64_t rows = my->size[0], columns = my->size[1], pitch = columns + 2;
  double* const next = zeroed((rows + 2) * pitch);
  for (int s = 0; s < steps; ++s) {
    check(tca_halo_start(my->halo));
    step(my->u, next, pitch, 2, rows, 2, columns);  // needs no ghosts, so it overlaps the exchange
    check(tca_halo_wait(my->halo));
    step(my->u, next, pitch, 1, 2, 1, columns + 1);
    step(my->u, next, pitch, rows, rows + 1, 1, columns + 1);
    step(my->u, next, pitch, 2, rows, 1, 2);
    step(my->u, next, pitch, 2, rows, columns, columns + 1);
    copy_interior(my->u, next, rows, columns);
  }
  free(next);
}

static double difference(const plate* my, int64_t n, int steps) {
  double* const expected = whole_plate(n, steps);
  double worst = 0;
  for (int64_t i = 1; i <= my->size[0]; ++i) {
    for (int64_t j = 1; j <= my->size[1]; ++j) {
      const double correct = expected[(my->first[0] + i) * (n + 2) + my->first[1] + j];
      const double off = fabs(my->u[i * (my->size[1] + 2) + j] - correct);
      if (!(off <= worst)) worst = off;  // keeps a NaN
    }
  }
  free(expected);
  return worst;
}

// The largest of all ranks' values.
static double largest(tca_world* world, double mine) {
  tca_collective_request request = TCA_COLLECTIVE_REQUEST_INIT;
  request.kind = TCA_ALL_REDUCE;
  request.name = "largest";
  request.type = TCA_FLOAT64;
  request.operation = TCA_MAX;
  request.count = 1;
  tca_collective* all;
  tca_window* window;
  check(tca_collective_create(world, &request, NULL, NULL, &all));
  check(tca_collective_from(all, &window));
  check(tca_window_write(window, 0, 1, &mine));
  check(tca_collective_run(all));
  check(tca_window_read(window, 0, 1, &mine));
  check(tca_window_free(window));
  check(tca_collective_free(all));
  return mine;
}

int main(int argc, char** argv) {
  const int64_t n = argc > 1 ? atol(argv[1]) : 128;
  const int steps = argc > 2 ? atoi(argv[2]) : 200;
  if (n < 2 || steps < 1) {
    fprintf(stderr, "usage: heat [cells along a side] [steps]\n");
    return TCA_INVALID_ARGUMENT;
  }
  tca_world* world;
  int rank;
  check(tca_world_init(NULL, &world));
  check(tca_world_rank(world, &rank));
  plate my = make_plate(world, n);
  run(&my, steps);
  const double worst = largest(world, difference(&my, n, steps));
  if (rank == 0) {
    printf("%lld x %lld cells, %d steps: %s\n", (long long)n, (long long)n, steps,
           worst < 1e-9 ? "as by one rank" : "WRONG");
  }
  check(tca_halo_free(my.halo));
  check(tca_window_free(my.window));
  check(tca_world_free(world));
  return worst < 1e-9 ? 0 : 1;
}
