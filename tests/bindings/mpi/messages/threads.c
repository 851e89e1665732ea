/* Threads in MPI at once: each with a communicator of its own, in collectives and messages, and all with one communicator, by tags, with
   probes that are matched and requests of both kinds. Every answer is known beforehand. Prints what is wrong, and ends with a code other
   than 0. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { threads = 4, rounds = 150, most = 5000 };
static int size;

struct Thread {
  int number;
  MPI_Comm own;
};

static void fill(int* numbers, int count, int seed) {
  for (int i = 0; i < count; ++i) numbers[i] = seed * 7919 + i;
}

static void collectives(const struct Thread* thread, int round) {
  int mine = rank + round + thread->number, sum = 0, all[64], root = round % size,
      told = rank == root ? round : -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, thread->own);
  CHECK(sum == size * (round + thread->number) + size * (size - 1) / 2);
  MPI_Bcast(&told, 1, MPI_INT, root, thread->own);
  CHECK(told == round);
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, thread->own);
  for (int each = 0; each < size; ++each) CHECK(all[each] == each + round + thread->number);
  if (round % 8 == 0) MPI_Barrier(thread->own);
}

static void messages(const struct Thread* thread, int round, MPI_Comm comm) {
  int out[most], in[most], count = round % 5 == 0 ? most : 1 + round % 30;
  const int next = (rank + 1) % size, before = (rank + size - 1) % size,
            tag = 10 * thread->number + round % 10;
  MPI_Request requests[3];
  MPI_Status status;
  MPI_Message message;
  int done = 0, got;
  fill(out, count, rank * 100 + tag);
  switch (round % 4) {
    case 0:
      MPI_Irecv(in, most, MPI_INT, before, tag, comm, &requests[0]);
      MPI_Isend(out, count, MPI_INT, next, tag, comm, &requests[1]);
      MPI_Ibarrier(thread->own, &requests[2]);
      MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
      break;
    case 1:
      MPI_Isend(out, count, MPI_INT, next, tag, comm, &requests[0]);
      MPI_Mprobe(MPI_ANY_SOURCE, tag, comm, &message, &status);
      MPI_Get_count(&status, MPI_INT, &got);
      CHECK(got == count && status.MPI_SOURCE == before);
      MPI_Mrecv(in, got, MPI_INT, &message, MPI_STATUS_IGNORE);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
      break;
    case 2:
      MPI_Sendrecv(out, count, MPI_INT, next, tag, in, most, MPI_INT, before, tag, comm, MPI_STATUS_IGNORE);
      break;
    default:
      MPI_Irecv(in, most, MPI_INT, MPI_ANY_SOURCE, tag, comm, &requests[0]);
      MPI_Issend(out, count, MPI_INT, next, tag, comm, &requests[1]);
      for (int left = 2; left > 0; left -= done) MPI_Testany(2, requests, &got, &done, MPI_STATUS_IGNORE);
  }
  fill(out, count, before * 100 + tag);
  CHECK(memcmp(in, out, sizeof(int) * (size_t)count) == 0);
}

static void* run(void* argument) {
  const struct Thread* const thread = argument;
  for (int round = 0; round < rounds; ++round) {
    collectives(thread, round);
    messages(thread, round, MPI_COMM_WORLD);
    messages(thread, round, thread->own);
    if (round % 50 == 0) {
      MPI_Comm copy;
      MPI_Comm_dup(thread->own, &copy);
      messages(thread, round, copy);
      MPI_Comm_free(&copy);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  struct Thread all[threads];
  pthread_t running[threads];
  int level;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) {
    puts("this MPI has no threads");
    MPI_Finalize();
    return 0;
  }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int each = 0; each < threads; ++each) {
    all[each].number = each;
    MPI_Comm_dup(MPI_COMM_WORLD, &all[each].own);
  }
  for (int each = 0; each < threads; ++each) pthread_create(&running[each], NULL, run, &all[each]);
  for (int each = 0; each < threads; ++each) pthread_join(running[each], NULL);
  for (int each = 0; each < threads; ++each) MPI_Comm_free(&all[each].own);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0 && !wrong) puts("all messages are right");
  MPI_Finalize();
  return wrong;
}
