// One-way time between two ranks of the torus, by puts and their events.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "apelib.h"

static void check(int result) {
  if (result != APELINK_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

static apelink_t link;
static ape_net_address_t addresses[2];

static void put(int to, const void* from, size_t bytes, am_vaddr_t where) {
  check(am_put(link, addresses[to], 0, 7, AM_BLOCKING, 0xc1, from, bytes, where));
}

// Waits for both kinds of events, as they come, until one of them has come so often.
static void await(int* received, int* sent, int received_until, int sent_until) {
  while (*received < received_until || *sent < sent_until) {
    am_event_t event;
    const int result = am_wait_event(link, &event, 0);
    if (result == APELINK_WOULDBLOCK) continue;
    check(result);
    *(event.ev_type == AM_TYPE_RECV ? received : sent) += 1;
  }
}

int main(int argc, char** argv) {
  const size_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
  const int rounds = 20;
  int rank, received = 0, sent = 0;
  am_portid_t port;
  am_vaddr_t mine, vaddrs[2];
  ape_net_address_t address;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  unsigned char* to = calloc(most, 1);
  unsigned char* from = malloc(most);
  link = ape_open(0, &port);
  if (link == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  address = ape_get_self_address(link);
  check(am_register_buf(link, &mine, to, most, 0xc0, AM_PERSISTENT_BUF));
  MPI_Allgather(&address, sizeof address, MPI_BYTE, addresses, sizeof address, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, vaddrs, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  for (size_t i = 0; i < most; ++i) from[i] = (unsigned char)(i * 7 + (size_t)rank);

  for (size_t bytes = 32; bytes <= most; bytes *= 2) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int round = 0; round < rounds; ++round) {
      if (rank == 1) await(&received, &sent, received + 1, sent);
      put(other, from, bytes, vaddrs[other]);
      if (rank == 0) await(&received, &sent, received + 1, sent);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double end = MPI_Wtime();
    if (rank == 0) printf("%zu B %.3f us\n", bytes, (end - begin) / rounds / 2 * 1e6);
  }
  await(&received, &sent, 0, received);
  for (size_t i = 0; i < most; ++i)
    if (to[i] != (unsigned char)(i * 7 + (size_t)other)) {
      fprintf(stderr, "rank %d: byte %zu is %d\n", rank, i, to[i]);
      exit(1);
    }
  MPI_Barrier(MPI_COMM_WORLD);
  check(am_unregister_buf(link, mine, to, most, AM_PERSISTENT_BUF));
  check(ape_close(link));
  free(to);
  free(from);
  MPI_Finalize();
  return 0;
}
