// Ghost planes of a ring of ranks, each with a cube of N^3: both neighbours on one slot and tag, one chain on controller 0,
// by the current calls and by the older ones. Even ranks begin with the lower neighbour, as codes for PEACH2 do.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tca-api.h"

#define N 8
#define FLAGS (tcaDMAUseInternal | tcaDMAUseNotifyInternal | tcaDMANotify)

static int rank, ranks;

static void check(tcaresult result) {
  if (result != TCA_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void require(int truth, const char* what, int step) {
  if (truth) return;
  fprintf(stderr, "rank %d, step %d: %s\n", rank, step, what);
  exit(1);
}

// Cells of plane j: rows of N, N * N apart.
static size_t place(int j) { return (size_t)j * N * sizeof(double); }

static void add_side(tcaDesc* chain, const tcaHandle* cubes, int to, int from_plane, int to_plane) {
  check(tcaDescSetMemcpy2D(chain, &cubes[to], (off_t)place(to_plane), N * N * sizeof(double), &cubes[rank],
                           (off_t)place(from_plane), N * N * sizeof(double), N * sizeof(double), N, FLAGS, 0,
                           0x100));
}

static void add_side_as_before(int* number, const tcaHandle* cubes, int to, int from_plane, int to_plane,
                               int last) {
  check(tcaSetDMADescInt_Memcpy2D(*number, number, &cubes[to], (off_t)place(to_plane), N * N * sizeof(double),
                                  &cubes[rank], (off_t)place(from_plane), N * N * sizeof(double),
                                  N * sizeof(double), N, FLAGS | (last ? 0 : tcaDMAContinue), 0, 0x100));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check(tcaInit());
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int lower = (rank + ranks - 1) % ranks, upper = (rank + 1) % ranks;
  double* cube;
  check(tcaMalloc((void**)&cube, N * N * N * sizeof *cube, tcaMemoryGPU));
  tcaHandle mine, *cubes = malloc((size_t)ranks * sizeof *cubes);
  check(tcaCreateHandle(&mine, cube, N * N * N * sizeof *cube, tcaMemoryGPU));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cubes, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);

  tcaDesc* chain = tcaDescNew();
  for (int turn = 0; turn < 2; ++turn)
    if (turn == rank % 2)
      add_side(chain, cubes, lower, 1, N - 1);
    else
      add_side(chain, cubes, upper, N - 2, 0);
  int number = 0;
  check(tcaDMADescInt_Init());
  add_side_as_before(&number, cubes, lower, 1, N - 1, 0);
  add_side_as_before(&number, cubes, upper, N - 2, 0, 1);
  require(number == 2, "descriptors have other numbers", 0);

  for (int step = 0; step < 20; ++step) {
    if (step == 0) check(tcaDescSet(chain, 0));
    if (step == 10) check(tcaSetDMAChainInt(0, 0));
    for (int i = 0; i < N; ++i)
      for (int j = 1; j < N - 1; ++j)
        for (int k = 0; k < N; ++k) cube[(i * N + j) * N + k] = rank * 1000 + step * 10 + (j == 1 ? 1 : 2);
    MPI_Barrier(MPI_COMM_WORLD);
    check(tcaStartDMADesc(0));
    check(tcaWaitDMARecvDesc(&cubes[lower], 0, 0x100));
    check(tcaWaitDMARecvDesc(&cubes[upper], 0, 0x100));
    check(tcaWaitDMAC(0));
    for (int i = 0; i < N; ++i)
      for (int k = 0; k < N; ++k) {
        require(cube[(i * N) * N + k] == lower * 1000 + step * 10 + 2, "the lower ghosts are wrong", step);
        require(cube[(i * N + N - 1) * N + k] == upper * 1000 + step * 10 + 1, "the upper ghosts are wrong",
                step);
      }
    MPI_Barrier(MPI_COMM_WORLD);
  }
  check(tcaDescFree(chain));
  check(tcaDestroyHandle(&mine));
  check(tcaFree(cube, tcaMemoryGPU));
  free(cubes);
  MPI_Finalize();
  return 0;
}
