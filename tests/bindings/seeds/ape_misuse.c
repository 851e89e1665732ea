// What the card or the library would not do: each call is refused with the right result.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "apelib.h"

static int failures = 0;

static void returns(const char* call, int result, int expected) {
  if (result == expected) return;
  fprintf(stderr, "%s: expected %d, got %d\n", call, expected, result);
  ++failures;
}

int main(int argc, char** argv) {
  int rank;
  char memory[64] = {0};
  am_portid_t port;
  am_vaddr_t mine, vaddrs[2];
  am_event_t event;
  ape_net_address_t address, addresses[2], nowhere;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  if (ape_open(1, &port) != NULL || ape_open(0, NULL) != NULL) ++failures;
  const apelink_t link = ape_open(0, &port);
  if (link == NULL) return 1;
  address = ape_get_self_address(link);
  nowhere.u = 0x00070707;
  returns("no link", am_wait_event(NULL, &event, 0), APELINK_INVALID);
  returns("no event", am_wait_event(link, NULL, 0), APELINK_INVALID);
  returns("no memory", am_register_buf(link, &mine, NULL, 64, 0, AM_PERSISTENT_BUF), APELINK_INVALID);
  returns("no kind", am_register_buf(link, &mine, memory, 64, 0, 77), APELINK_INVALID);
  returns("registered", am_register_buf(link, &mine, memory, 64, 0, AM_PERSISTENT_BUF), APELINK_SUCCESS);
  MPI_Allgather(&address, sizeof address, MPI_BYTE, addresses, sizeof address, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, vaddrs, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  returns("nobody there", am_put(link, nowhere, 0, 0, AM_BLOCKING, 0, memory, 16, vaddrs[other]),
          APELINK_INVALID);
  returns("no address", am_put(link, addresses[other], 0, 0, AM_BLOCKING, 0, memory, 16, 12),
          APELINK_INVALID);
  returns("no source", am_put(link, addresses[other], 0, 0, AM_BLOCKING, 0, NULL, 16, vaddrs[other]),
          APELINK_INVALID);
  returns("too long", am_put(link, addresses[other], 0, 0, AM_BLOCKING, 0, memory, 65, vaddrs[other]),
          APELINK_INVALID);
  returns("nothing comes", am_wait_event(link, &event, 0), APELINK_WOULDBLOCK);
  MPI_Barrier(MPI_COMM_WORLD);

  // The other's buffer goes, and then the other rank.
  returns("unregistered", am_unregister_buf(link, mine, memory, 64, AM_PERSISTENT_BUF), APELINK_SUCCESS);
  returns("once more", am_unregister_buf(link, mine, memory, 64, AM_PERSISTENT_BUF), APELINK_INVALID);
  MPI_Barrier(MPI_COMM_WORLD);
  returns("a stale address", am_put(link, addresses[other], 0, 0, AM_BLOCKING, 0, memory, 16, vaddrs[other]),
          APELINK_INVALID);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) returns("a lost partner", am_wait_event(link, &event, -1), APELINK_COMMUNICATION);
  return failures > 0;
}
