// Collectives as programs for PEACH2 have them: a broadcast along a binomial tree, an allgather by recursive doubling on
// all four controllers, a ring of eight packets between neighbours, and an allreduce by processors' stores, in which ranks
// watch their own memory. The last is left out with an argument: on the model nothing moves while a rank does that.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tca-api.h"

#define TAG 0x100
#define BOTH (tcaDMAUseInternal | tcaDMANotify | tcaDMANotifySelf)

static int rank, ranks;

static void check(tcaresult result) {
  if (result != TCA_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
}

static void require(int truth, const char* what) {
  if (truth) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  exit(1);
}

// Memory and everybody's handles of theirs.
typedef struct shared {
  double* mine;
  tcaHandle* of;
} shared;

static shared share(size_t count, tcaMemoryKind kind) {
  shared all;
  tcaHandle mine;
  check(tcaMalloc((void**)&all.mine, count * sizeof(double), kind));
  check(tcaCreateHandle(&mine, all.mine, count * sizeof(double), kind));
  all.of = malloc((size_t)ranks * sizeof mine);
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.of, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  return all;
}

static void unshare(shared all, tcaMemoryKind kind) {
  MPI_Barrier(MPI_COMM_WORLD);
  check(tcaFree(all.mine, kind));
  free(all.of);
}

static void broadcast(void) {
  enum { count = 64 };
  shared values = share(count, tcaMemoryGPU);
  tcaDesc* chain = tcaDescNew();
  int from = -1, sends = 0;
  for (int distance = ranks / 2; distance > 0; distance /= 2) {
    if (rank % (2 * distance) == 0) {
      check(tcaDescSetMemcpy(chain, &values.of[rank + distance], 0, &values.of[rank], 0,
                             count * sizeof(double), BOTH, 0, TAG));
      ++sends;
    } else if (rank % distance == 0) {
      from = rank - distance;
    }
  }
  check(tcaDescSet(chain, 0));
  for (int round = 0; round < 5; ++round) {
    if (rank == 0)
      for (int i = 0; i < count; ++i) values.mine[i] = round * 1000 + i;
    MPI_Barrier(MPI_COMM_WORLD);
    if (from >= 0) check(tcaWaitDMARecvDesc(&values.of[from], 0, TAG));
    if (sends > 0) {
      check(tcaStartDMADesc(0));
      check(tcaWaitDMARecvDesc(&values.of[rank], 0, TAG));  // one flag for all of them
    }
    for (int i = 0; i < count; ++i) require(values.mine[i] == round * 1000 + i, "the broadcast is wrong");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  check(tcaDescFree(chain));
  unshare(values, tcaMemoryGPU);
}

static void all_gather(void) {
  enum { count = 16 };
  shared part = share(count, tcaMemoryGPU), all = share(count * (size_t)ranks, tcaMemoryGPU);
  const size_t bytes = count * sizeof(double);
  tcaDesc* chains[4];
  int steps = 0, first = rank;
  for (int mask = 1; mask < ranks; mask *= 2, ++steps) {
    const int other = rank ^ mask;
    const off_t at = (off_t)((size_t)first * bytes);
    chains[steps] = tcaDescNew();
    if (steps == 0)
      check(tcaDescSetMemcpy(chains[0], &all.of[rank], at, &part.of[rank], 0, bytes, BOTH, 0, TAG));
    check(tcaDescSetMemcpy(chains[steps], &all.of[other], at, steps == 0 ? &part.of[rank] : &all.of[rank],
                           steps == 0 ? 0 : at, (size_t)mask * bytes, BOTH, 0, TAG));
    check(tcaDescSet(chains[steps], steps));
    if (rank >= other) first -= mask;
  }
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < count; ++i) part.mine[i] = round * 1000 + rank * count + i;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = 0; step < steps; ++step) {
      check(tcaStartDMADesc(step));
      check(tcaWaitDMARecvDesc(&all.of[rank], 0, TAG));
      check(tcaWaitDMARecvDesc(&all.of[rank ^ (1 << step)], 0, TAG));
    }
    for (int i = 0; i < count * ranks; ++i)
      require(all.mine[i] == round * 1000 + i, "the allgather is wrong");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int step = 0; step < steps; ++step) check(tcaDescFree(chains[step]));
  unshare(all, tcaMemoryGPU);
  unshare(part, tcaMemoryGPU);
}

// Eight places for packets at the right neighbour, one slot each; a place is used again once that one has said so.
static void ring_of_packets(void) {
  enum { depth = 8, packets = 40, first_slot = 16, room_slot = 24 };
  shared sent = share(depth, tcaMemoryCPU), ring = share(depth, tcaMemoryCPU);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  tcaDesc *packet[depth], *room = tcaDescNew();
  for (int i = 0; i < depth; ++i) {
    const off_t at = i * (off_t)sizeof(double);
    packet[i] = tcaDescNew();
    check(tcaDescSetMemcpy(packet[i], &ring.of[right], at, &sent.of[rank], at, sizeof(double), tcaDMANotify,
                           first_slot + i % depth, 31));
  }
  check(tcaDescSetMemcpy(room, &sent.of[left], 0, &sent.of[rank], 0, 0, tcaDMANotify, room_slot, 32));
  check(tcaDescSet(room, 1));
  for (int i = 0; i < packets + depth; ++i) {
    const int come = i - depth;  // late by a ring
    if (come >= 0) {
      check(tcaWaitDMARecvDesc(&ring.of[left], first_slot + come % depth, 31));
      require(ring.mine[come % depth] == left * 1000 + come, "a packet is wrong");
      check(tcaStartDMADesc(1));
    }
    if (i >= packets) continue;
    if (i >= depth) check(tcaWaitDMARecvDesc(&sent.of[right], room_slot, 32));
    check(tcaWaitDMAC(0));
    sent.mine[i % depth] = rank * 1000 + i;
    check(tcaDescSet(packet[i % depth], 0));
    check(tcaStartDMADesc(0));
  }
  for (int i = 0; i < depth; ++i) check(tcaWaitDMARecvDesc(&sent.of[right], room_slot, 32));
  for (int i = 0; i < depth; ++i) check(tcaDescFree(packet[i]));
  check(tcaDescFree(room));
  unshare(ring, tcaMemoryCPU);
  unshare(sent, tcaMemoryCPU);
}

// Dissemination, a place of 64 bytes for each step and parity of rounds: values, and a mark behind them.
static void all_reduce(void) {
  enum { count = 4, line = 8, mark = count };
  shared slots = share(2 * 8 * line, tcaMemoryCPU);
  tcaPIOHandle to[8];
  int steps = 0;
  for (int distance = 1; distance < ranks; distance *= 2, ++steps)
    check(
        tcaSetPIORegion(&to[steps], &slots.of[(rank + distance) % ranks], 0, 2 * 8 * line * sizeof(double)));
  for (int round = 0; round < 50; ++round) {
    double values[count + 1];
    for (int i = 0; i < count; ++i) values[i] = rank + i + round;
    values[mark] = 255;
    for (int step = 0; step < steps; ++step) {
      const int place = ((round % 2) * 8 + step) * line;
      check(tcaSendPIO(&to[step], place * (off_t)sizeof(double), values, sizeof values));
      check(tcaSendPIOCommit());
      volatile double* come = &slots.mine[place];
      while (come[mark] != 255) continue;
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      for (int i = 0; i < count; ++i) values[i] += come[i];
      come[mark] = 0;
    }
    for (int i = 0; i < count; ++i)
      require(values[i] == ranks * (ranks - 1) / 2.0 + ranks * (i + round), "the allreduce is wrong");
    MPI_Barrier(MPI_COMM_WORLD);
  }
  unshare(slots, tcaMemoryCPU);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check(tcaInit());
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  broadcast();
  all_gather();
  ring_of_packets();
  if (argc == 1) all_reduce();
  MPI_Finalize();
  return 0;
}
