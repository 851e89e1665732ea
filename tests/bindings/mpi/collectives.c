/* Every collective that the library serves, many times, of every kind of argument, held to what it must give. Values are small
   whole numbers, so that sums are exact in any order. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 3000, rounds = 6 };

static int rank, size, failures;
static MPI_Comm comm;

static void expect(int holds, const char* what, int count, int round) {
  if (holds || failures++ > 3) return;
  fprintf(stderr, "rank %d: %s of %d is wrong in round %d\n", rank, what, count, round);
}

static int value(int of_rank, int index, int round) { return (of_rank * 7 + index * 3 + round) % 101; }

static double sum(int index, int round) {
  double all = 0;
  for (int r = 0; r < size; ++r) all += value(r, index, round);
  return all;
}

static void fill(double* values, int count, int begin, int round) {
  for (int i = 0; i < count; ++i) values[i] = value(rank, begin + i, round);
}

static int are_sums(const double* values, int count, int begin, int round) {
  for (int i = 0; i < count; ++i)
    if (values[i] != sum(begin + i, round)) return 0;
  return 1;
}

static double *from, *to;

static void reductions(int count, int round, int in_place) {
  const int root = round % size;
  fill(from, count, 0, round);
  memcpy(to, from, sizeof *to * (size_t)count);
  MPI_Allreduce(in_place ? MPI_IN_PLACE : from, to, count, MPI_DOUBLE, MPI_SUM, comm);
  expect(are_sums(to, count, 0, round), "MPI_Allreduce", count, round);

  /* In place at rank 0 alone: MPICH 4.0 ends with a segmentation fault at others. */
  memcpy(to, from, sizeof *to * (size_t)count);
  MPI_Reduce(in_place && rank == root && root == 0 ? MPI_IN_PLACE : from, to, count, MPI_DOUBLE, MPI_SUM,
             root, comm);
  if (rank == root) expect(are_sums(to, count, 0, round), "MPI_Reduce", count, round);

  fill(from, count * size, 0, round);
  memcpy(to, from, sizeof *to * (size_t)(count * size));
  MPI_Reduce_scatter_block(in_place ? MPI_IN_PLACE : from, to, count, MPI_DOUBLE, MPI_SUM, comm);
  expect(are_sums(to, count, rank * count, round), "MPI_Reduce_scatter_block", count, round);
}

static void moves(int count, int round, int in_place) {
  const int root = round % size;
  int right = 1;
  fill(to, count, 0, round);
  MPI_Bcast(to, count, MPI_DOUBLE, root, comm);
  for (int i = 0; i < count; ++i) right = right && to[i] == value(root, i, round);
  expect(right, "MPI_Bcast", count, round);

  fill(from, count, 0, round);
  memcpy(to + rank * count, from, sizeof *to * (size_t)count);
  MPI_Allgather(in_place ? MPI_IN_PLACE : from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, comm);
  for (int i = 0; i < count * size; ++i) right = right && to[i] == value(i / count, i % count, round);
  expect(right, "MPI_Allgather", count, round);

  fill(from, count * size, 0, round);
  memcpy(to, from, sizeof *to * (size_t)(count * size));
  MPI_Alltoall(in_place ? MPI_IN_PLACE : from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, comm);
  for (int i = 0; i < count * size; ++i)
    right = right && to[i] == value(i / count, rank * count + i % count, round);
  expect(right, "MPI_Alltoall", count, round);
}

/* Other operations and datatypes, among them those that MPI combines for the library and those that are left to it. */
static void kinds(int round) {
  struct {
    double value;
    int index;
  } mine = {value(rank, 0, round), rank}, best;
  MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  double highest = -1;
  for (int r = 0; r < size; ++r)
    if (value(r, 0, round) > highest) highest = value(r, 0, round);
  expect(best.value == highest && value(best.index, 0, round) == highest, "MPI_MAXLOC", 1, round);

  int bits = 1 << rank, all = 0;
  MPI_Allreduce(&bits, &all, 1, MPI_INT, MPI_BOR, comm);
  expect(all == (1 << size) - 1, "MPI_BOR", 1, round);

  unsigned char byte = (unsigned char)(rank + 250), least = 0;
  MPI_Allreduce(&byte, &least, 1, MPI_UNSIGNED_CHAR, MPI_MIN, comm);
  expect(least == 250, "MPI_MIN", 1, round);

  /* Every second element, from a root that sends them side by side. */
  MPI_Datatype every_second;
  MPI_Type_vector(5, 1, 2, MPI_INT, &every_second);
  MPI_Type_commit(&every_second);
  int gaps[10];
  for (int i = 0; i < 10; ++i) gaps[i] = -1;
  if (rank == 0)
    for (int i = 0; i < 5; ++i) gaps[i] = i + round;
  if (rank == 0)
    MPI_Bcast(gaps, 5, MPI_INT, 0, comm);
  else
    MPI_Bcast(gaps, 1, every_second, 0, comm);
  for (int i = 0; i < 5 && rank != 0; ++i)
    expect(gaps[2 * i] == i + round && gaps[2 * i + 1] == -1, "MPI_Bcast of a vector", 5, round);
  MPI_Type_free(&every_second);
  MPI_Barrier(comm);
}

/* MPI must progress in a collective: a message that needs both sides, sent before it and received before the other's. */
static void progress(int round) {
  enum { large = 1 << 20 };
  static char message[large];
  MPI_Request sent;
  if (rank == 0) {
    memset(message, round + 1, large);
    MPI_Isend(message, large, MPI_CHAR, 1, 0, comm, &sent);
    MPI_Barrier(comm);
    MPI_Wait(&sent, MPI_STATUS_IGNORE);
  } else {
    if (rank == 1) {
      MPI_Recv(message, large, MPI_CHAR, 0, 0, comm, MPI_STATUS_IGNORE);
      expect(message[large - 1] == round + 1, "a message before a barrier", large, round);
    }
    MPI_Barrier(comm);
  }
}

static void all(MPI_Comm of) {
  static const int counts[] = {0, 1, 2, 17, 64, most};
  comm = of;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
      reductions(counts[i], round, round % 2);
      moves(counts[i], round, round % 2);
    }
    kinds(round);
    if (size > 1) progress(round);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  from = malloc(sizeof *from * most * (size_t)ranks);
  to = malloc(sizeof *to * most * (size_t)ranks);

  all(MPI_COMM_WORLD);
  MPI_Comm reversed, copy;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &reversed);
  all(reversed);
  MPI_Comm_free(&reversed);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy); /* often with the handle of the one that is gone */
  all(copy);
  MPI_Comm_free(&copy);

  int every = 0;
  MPI_Reduce(&failures, &every, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("%s\n", every == 0 ? "all is right" : "something is wrong");
  free(from);
  free(to);
  MPI_Finalize();
  return every != 0;
}
