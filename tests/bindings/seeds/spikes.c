// Neurons whose spikes go to all other ranks in each millisecond, by puts of various lengths; each rank knows from whom it
// expects some, and takes events as they come. One buffer for each other rank, and a streaming one.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "apelib.h"

#define MOST 4096
#define STEPS 40

static int rank, ranks;

static void check(int result) {
  if (result != APELINK_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void require(int truth, const char* what, int step) {
  if (truth) return;
  fprintf(stderr, "rank %d, step %d: %s\n", rank, step, what);
  exit(1);
}

// Bytes from a rank to another in a step: none, or a multiple of 16.
static size_t spikes(int from, int to, int step) { return (size_t)((from * 7 + to * 5 + step * 3) % 6) * 16; }

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  am_portid_t port;
  apelink_t link = ape_open(0, &port);
  if (link == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  unsigned x, y, z;
  check(ape_get_topology(link, &x, &y, &z));
  require((int)(x * y * z) == ranks && x >= y && y >= z, "the torus is another", 0);
  ape_net_address_t own = ape_get_self_address(link), *addresses = malloc((size_t)ranks * sizeof own);
  require((int)(port + AM_NPORTS * (own.s.x + x * (own.s.y + y * own.s.z))) == rank, "the address is another",
          0);
  MPI_Allgather(&own, sizeof own, MPI_BYTE, addresses, sizeof own, MPI_BYTE, MPI_COMM_WORLD);

  unsigned char* forward = malloc((size_t)ranks * MOST);
  unsigned char* backward = malloc((size_t)ranks * MOST);
  am_vaddr_t* given = calloc((size_t)ranks, sizeof *given);
  am_vaddr_t* theirs = malloc((size_t)ranks * sizeof *theirs);
  for (int h = 0; h < ranks; ++h)
    check(am_register_buf(link, &given[h], backward + h * MOST, MOST, (am_context_t)h, AM_PERSISTENT_BUF));
  MPI_Alltoall(given, 1, MPI_UNSIGNED_LONG_LONG, theirs, 1, MPI_UNSIGNED_LONG_LONG, MPI_COMM_WORLD);

  for (int step = 0; step < STEPS; ++step) {
    int to_receive = 0, to_send = 0;
    for (int h = 0; h < ranks; ++h) {
      to_receive += spikes(h, rank, step) > 0;
      const size_t bytes = spikes(rank, h, step);
      if (bytes == 0) continue;
      for (size_t i = 0; i < bytes; ++i)
        forward[h * MOST + (int)i] = (unsigned char)(rank * 31 + step + (int)i);
      // Each third step behind the beginning of the buffer.
      check(am_put(link, addresses[h], 0, (uint32_t)step, AM_BLOCKING, 100 + (am_context_t)h,
                   forward + h * MOST, bytes, theirs[h] + (step % 3 == 0 ? 64 : 0)));
      ++to_send;
    }
    while (to_receive > 0 || to_send > 0) {
      am_event_t event;
      const int result = am_wait_event(link, &event, 0);
      if (result == APELINK_WOULDBLOCK) continue;
      check(result);
      if (event.ev_type == AM_TYPE_SENT) {
        require(event.ev.ev_sent.data == (uint32_t)step && event.ev.ev_sent.context >= 100,
                "what was sent is another", step);
        --to_send;
        continue;
      }
      const am_event_recv_t* come = &event.ev.ev_recv;
      const int h = (int)come->context;
      const size_t at = step % 3 == 0 ? 64 : 0;
      require(come->data == (uint32_t)step && come->src_addr.u == addresses[h].u, "the event is another's",
              step);
      require(come->len == spikes(h, rank, step) && come->vaddr == given[h] + at, "the put is another", step);
      require(come->buf == backward + h * MOST && come->buflen == MOST, "the buffer is another", step);
      for (size_t i = 0; i < come->len; ++i)
        require(backward[h * MOST + (int)(at + i)] == (unsigned char)(h * 31 + step + (int)i),
                "spikes are wrong", step);
      --to_receive;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }

  // More puts than may wait for their events: one that does not want to wait is told so, and goes on once some are taken.
  const int other = (rank + 1) % ranks;
  int puts = 0, result;
  while ((result = am_put(link, addresses[other], 0, 0, AM_NONBLOCKING, 0, forward, 16, theirs[other])) == 0)
    ++puts;
  require(result == APELINK_WOULDBLOCK && puts >= 50 && puts <= 100, "another number of puts may wait", puts);
  int* puts_of = malloc((size_t)ranks * sizeof puts);
  MPI_Allgather(&puts, 1, MPI_INT, puts_of, 1, MPI_INT, MPI_COMM_WORLD);
  for (int left = puts + puts_of[(rank + ranks - 1) % ranks]; left > 0; --left) {
    am_event_t event;
    if (am_wait_event(link, &event, -1) != APELINK_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  // A streaming buffer is handed back by the first put into it.
  am_vaddr_t once, target;
  static unsigned char stream[64];
  check(am_register_buf(link, &once, stream, sizeof stream, 5, AM_STREAMING_BUF));
  am_vaddr_t* everywhere = malloc((size_t)ranks * sizeof *everywhere);
  MPI_Allgather(&once, sizeof once, MPI_BYTE, everywhere, sizeof once, MPI_BYTE, MPI_COMM_WORLD);
  target = everywhere[other];
  check(am_put(link, addresses[other], 0, 9, AM_BLOCKING, 0, forward, 32, target));
  for (int events = 0; events < 2;) {
    am_event_t event;
    if (am_wait_event(link, &event, -1) != APELINK_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    require(event.ev_type == AM_TYPE_SENT || event.ev.ev_recv.buf == stream, "the stream is another", STEPS);
    ++events;
  }
  MPI_Barrier(MPI_COMM_WORLD);
  require(am_put(link, addresses[other], 0, 9, AM_BLOCKING, 0, forward, 32, target) < APELINK_WOULDBLOCK,
          "a put into a buffer that is gone was taken", STEPS);
  require(am_unregister_buf(link, once, stream, sizeof stream, AM_STREAMING_BUF) < APELINK_WOULDBLOCK,
          "a buffer was unregistered twice", STEPS);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int h = 0; h < ranks; ++h)
    check(am_unregister_buf(link, given[h], backward + h * MOST, MOST, AM_PERSISTENT_BUF));
  check(ape_close(link));
  free(everywhere);
  free(puts_of);
  free(theirs);
  free(given);
  free(backward);
  free(forward);
  free(addresses);
  MPI_Finalize();
  return 0;
}
