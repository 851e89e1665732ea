// Puts and their events between GPUs, whose memory is cudaMalloc's, and from host memory into a GPU.
#include <cuda_runtime.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "apelib.h"

enum { BYTES = 4096, ROUNDS = 10 };

static int rank, failures = 0;

static void check(int result) {
  if (result != APELINK_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}
static void ok(cudaError_t result) {
  if (result == cudaSuccess) return;
  fprintf(stderr, "rank %d: CUDA says %s\n", rank, cudaGetErrorString(result));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Waits for a put of the other's, and for that of this rank to have left.
static am_event_recv_t both_events(apelink_t link) {
  am_event_recv_t come = {0};
  for (int events = 0; events < 2; ++events) {
    am_event_t event;
    check(am_wait_event(link, &event, -1));
    if (event.ev_type == AM_TYPE_RECV) come = event.ev.ev_recv;
  }
  return come;
}

int main(int argc, char** argv) {
  am_portid_t port;
  am_vaddr_t mine, vaddrs[2];
  ape_net_address_t address, addresses[2];
  unsigned char *from, *to, host[BYTES], there[BYTES];
  int devices;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  const apelink_t link = ape_open(0, &port);
  if (link == NULL) return 1;
  ok(cudaGetDeviceCount(&devices));
  ok(cudaSetDevice(rank % devices));
  ok(cudaMalloc((void**)&from, BYTES));
  ok(cudaMalloc((void**)&to, BYTES));
  check(am_register_buf(link, &mine, to, BYTES, 0xc0, AM_PERSISTENT_BUF));
  address = ape_get_self_address(link);
  MPI_Allgather(&address, sizeof address, MPI_BYTE, addresses, sizeof address, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, vaddrs, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < BYTES; ++i) host[i] = (unsigned char)(i + round + 100 * rank);
    ok(cudaMemcpy(from, host, BYTES, cudaMemcpyDefault));
    const void* const source = round % 2 == 0 ? (const void*)from : host;
    check(am_put(link, addresses[other], 0, 5, AM_BLOCKING, 0xc1, source, BYTES, vaddrs[other]));
    const am_event_recv_t come = both_events(link);
    if (come.buf != to || come.len != BYTES || come.data != 5) ++failures;
    ok(cudaMemcpy(there, to, BYTES, cudaMemcpyDefault));
    for (int i = 0; i < BYTES; ++i) failures += there[i] != (unsigned char)(i + round + 100 * other);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (failures > 0) fprintf(stderr, "rank %d: %d failures\n", rank, failures);
  check(am_unregister_buf(link, mine, to, BYTES, AM_PERSISTENT_BUF));
  MPI_Barrier(MPI_COMM_WORLD);
  check(ape_close(link));
  ok(cudaFree(from));
  ok(cudaFree(to));
  MPI_Finalize();
  return failures > 0;
}
