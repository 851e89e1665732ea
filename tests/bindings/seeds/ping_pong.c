// One-way time between two ranks, as benchmarks of PEACH2 take it: 8 bytes to as many as the first argument says, in as
// many rounds as the second.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tca-api.h"

#define SLOT 0
#define TAG 0x100
#define FLAGS (tcaDMAUseInternal | tcaDMAUseNotifyInternal | tcaDMANotify | tcaDMANotifySelf)

static void check(tcaresult result) {
  if (result != TCA_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

static tcaHandle* handles_of(double* memory, size_t bytes, int ranks) {
  tcaHandle mine;
  tcaHandle* all = malloc((size_t)ranks * sizeof *all);
  check(tcaCreateHandle(&mine, memory, bytes, tcaMemoryGPU));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

// Returns microseconds.
static double one_way(size_t bytes, int rank, int rounds) {
  const int other = 1 - rank;
  const size_t count = bytes / sizeof(double);
  double *sent, *received;
  check(tcaMalloc((void**)&sent, bytes, tcaMemoryGPU));
  check(tcaMalloc((void**)&received, bytes, tcaMemoryGPU));
  for (size_t i = 0; i < count; ++i) sent[i] = (double)(rank + 1) * (double)i + 1;
  tcaHandle* from = handles_of(sent, bytes, 2);
  tcaHandle* to = handles_of(received, bytes, 2);
  tcaDesc* chain = tcaDescNew();
  check(tcaDescSetMemcpy(chain, &to[other], 0, &from[rank], 0, bytes, FLAGS, SLOT, TAG));
  check(tcaDescSet(chain, 0));
  MPI_Barrier(MPI_COMM_WORLD);

  const double begin = MPI_Wtime();
  for (int round = 0; round < rounds; ++round) {
    if (rank == 1) check(tcaWaitDMARecvDesc(&to[other], SLOT, TAG));
    check(tcaStartDMADesc(0));
    check(tcaWaitDMARecvDesc(&from[rank], SLOT, TAG));
    if (rank == 0) check(tcaWaitDMARecvDesc(&to[other], SLOT, TAG));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const double end = MPI_Wtime();

  for (size_t i = 0; i < count; ++i)
    if (received[i] != (double)(other + 1) * (double)i + 1) {
      fprintf(stderr, "rank %d: element %zu is %f\n", rank, i, received[i]);
      exit(1);
    }
  check(tcaDescFree(chain));
  MPI_Barrier(MPI_COMM_WORLD);
  check(tcaFree(sent, tcaMemoryGPU));
  check(tcaFree(received, tcaMemoryGPU));
  free(from);
  free(to);
  return (end - begin) / rounds / 2 * 1e6;
}

int main(int argc, char** argv) {
  int rank;
  const size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
  const int rounds = argc > 2 ? atoi(argv[2]) : 20;
  MPI_Init(&argc, &argv);
  check(tcaInit());
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (size_t bytes = 8; bytes <= most; bytes *= 2) {
    const double time = one_way(bytes, rank, rounds);
    if (rank == 0) printf("%zu B %.3f us\n", bytes, time);
  }
  MPI_Finalize();
  return 0;
}
