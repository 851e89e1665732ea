// Puts between GPUs, by the calls that programs make on HA-PACS/TCA: memory of tcaMalloc's and of cudaMalloc's, blocks and
// rows, chains, and stores into host memory that the target watches.
#include <cuda_runtime.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "tca-api.h"

enum { ROWS = 16, PITCH = 64, COUNT = ROWS * PITCH, SLOT = 3, TAG = 0x100 };

static int rank, failures = 0;

static void done(tcaresult result) {
  if (result != TCA_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}
static void ok(cudaError_t result) {
  if (result == cudaSuccess) return;
  fprintf(stderr, "rank %d: CUDA says %s\n", rank, cudaGetErrorString(result));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// The handles of both ranks.
static void exchange(tcaHandle of[2], void* memory, size_t bytes, tcaMemoryKind kind) {
  tcaHandle mine;
  done(tcaCreateHandle(&mine, memory, bytes, kind));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, of, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
}

static void fill(double* memory, double first) {
  double values[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = first + i;
  ok(cudaMemcpy(memory, values, sizeof values, cudaMemcpyDefault));
}
static void require(const double* memory, int at, double value, const char* what) {
  double there;
  ok(cudaMemcpy(&there, memory + at, sizeof there, cudaMemcpyDefault));
  if (there == value) return;
  fprintf(stderr, "rank %d: %s: element %d is %f instead of %f\n", rank, what, at, there, value);
  ++failures;
}

// A block, then rows with a hole between them, in one chain, several times.
static void move_there(double* from, double* to, const char* what) {
  const int other = 1 - rank;
  const int notify = tcaDMAUseInternal | tcaDMAUseNotifyInternal | tcaDMANotify | tcaDMANotifySelf;
  tcaHandle sources[2], targets[2];
  exchange(sources, from, COUNT * sizeof(double), tcaMemoryGPU);
  exchange(targets, to, COUNT * sizeof(double), tcaMemoryGPU);
  tcaDesc* chain = tcaDescNew();
  const size_t half = COUNT / 2 * sizeof(double), pitch = PITCH * sizeof(double);
  done(tcaDescSetMemcpy(chain, &targets[other], 0, &sources[rank], 0, half, tcaDMAUseInternal, SLOT, TAG));
  done(tcaDescSetMemcpy2D(chain, &targets[other], (off_t)half, pitch, &sources[rank], (off_t)half, pitch, 32,
                          ROWS / 2, notify, SLOT, TAG));
  done(tcaDescSet(chain, 0));
  for (int round = 0; round < 5; ++round) {
    fill(from, 10000. * (rank + 1) + 1000. * round);
    if (round == 0) fill(to, -COUNT);
    MPI_Barrier(MPI_COMM_WORLD);
    done(tcaStartDMADesc(0));
    done(tcaWaitDMARecvDesc(&sources[rank], SLOT, TAG));
    done(tcaWaitDMARecvDesc(&targets[other], SLOT, TAG));
    const double first = 10000. * (other + 1) + 1000. * round;
    require(to, 0, first, what);
    require(to, COUNT / 2 - 1, first + COUNT / 2 - 1, what);
    require(to, COUNT - PITCH + 3, first + COUNT - PITCH + 3, what);
    require(to, COUNT - PITCH + 4, -PITCH + 4, what);  // the hole
    MPI_Barrier(MPI_COMM_WORLD);
  }
  done(tcaDescFree(chain));
  MPI_Barrier(MPI_COMM_WORLD);
  done(tcaDestroyHandle(&sources[rank]));
  done(tcaDestroyHandle(&targets[rank]));
}

// The time of 8 bytes one way, for people: what it is beside a post is in docs/performance-gpu.md.
static void take_time(double* from, double* to) {
  enum { ROUNDS = 1000 };
  const int other = 1 - rank;
  tcaHandle sources[2], targets[2];
  exchange(sources, from, sizeof *from, tcaMemoryGPU);
  exchange(targets, to, sizeof *to, tcaMemoryGPU);
  tcaDesc* chain = tcaDescNew();
  done(tcaDescSetMemcpy(chain, &targets[other], 0, &sources[rank], 0, sizeof *from,
                        tcaDMAUseInternal | tcaDMAUseNotifyInternal | tcaDMANotify, SLOT, TAG));
  done(tcaDescSet(chain, 0));
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int round = 0; round < ROUNDS; ++round) {
    if (rank == 1) done(tcaWaitDMARecvDesc(&targets[other], SLOT, TAG));
    done(tcaStartDMADesc(0));
    if (rank == 0) done(tcaWaitDMARecvDesc(&targets[other], SLOT, TAG));
  }
  if (rank == 0) printf("8 B %.3f us\n", (MPI_Wtime() - begin) / ROUNDS / 2 * 1e6);
  MPI_Barrier(MPI_COMM_WORLD);
  done(tcaDescFree(chain));
  done(tcaDestroyHandle(&sources[rank]));
  done(tcaDestroyHandle(&targets[rank]));
}

// Stores whose target watches the last eight bytes, in host memory.
static void stores(void) {
  const int other = 1 - rank;
  volatile double* board;
  double values[8] = {1, 2, 3, 4, 5, 6, 7, 255. + rank};
  tcaHandle boards[2];
  tcaPIOHandle region;
  done(tcaMalloc((void**)&board, sizeof values, tcaMemoryCPU));
  exchange(boards, (void*)board, sizeof values, tcaMemoryCPU);
  done(tcaSetPIORegion(&region, &boards[other], 0, sizeof values));
  done(tcaSendPIO(&region, 0, values, sizeof values));
  done(tcaSendPIOCommit());
  while (board[7] == 0) {
  }
  if (board[7] != 255. + other || board[0] != 1) ++failures;
  MPI_Barrier(MPI_COMM_WORLD);
  done(tcaFree((void*)board, tcaMemoryCPU));
}

int main(int argc, char** argv) {
  double *given, *received, *own, *own_received;
  const size_t bytes = COUNT * sizeof(double);
  struct cudaPointerAttributes attributes;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  done(tcaInit());
  done(tcaMalloc((void**)&given, bytes, tcaMemoryGPU));
  done(tcaMalloc((void**)&received, bytes, tcaMemoryGPU));
  ok(cudaPointerGetAttributes(&attributes, given));
  if (attributes.type != cudaMemoryTypeDevice) {
    fprintf(stderr, "on_gpus: tcaMalloc gives no memory of a GPU; set OPENTCA_FABRIC=cuda\n");
    return 2;
  }
  ok(cudaSetDevice(attributes.device));
  ok(cudaMalloc((void**)&own, bytes));
  ok(cudaMalloc((void**)&own_received, bytes));
  move_there(given, received, "tcaMalloc's");
  move_there(own, own_received, "cudaMalloc's");
  move_there(own, received, "one of each");
  take_time(given, received);
  stores();
  MPI_Barrier(MPI_COMM_WORLD);
  done(tcaFree(given, tcaMemoryGPU));
  done(tcaFree(received, tcaMemoryGPU));
  ok(cudaFree(own));
  ok(cudaFree(own_received));
  MPI_Finalize();
  return failures > 0;
}
