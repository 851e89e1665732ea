/* Neighbourhood collectives on grids and graphs, of lengths that differ from edge to edge and from call to call, each beside what MPI
   itself (PMPI_...) makes of the same call. Graphs have several edges between two ranks, edges to a rank itself, and a rank without
   any; some blocks are too long to be served. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_edges = 8, longest = 3000, rounds = 8, numbers = most_edges * 2 * longest };

static int rank, size, failures;
static int *from, *to, *by_mpi;
static int sources[most_edges], destinations[most_edges], in, out;

/* The length of a message is known to both of its ends. */
static int length(int source, int destination, int round) {
  static const int lengths[] = {0, 1, 17, 64, 200};
  if (round > 4 && (source + destination + round) % 3 == 0) return longest;
  return lengths[(unsigned)(source * 3 + destination + round) % 5];
}

static void prepare(int round) {
  for (int i = 0; i < numbers; ++i) {
    from[i] = rank * 1000003 + i * 7 + round;
    to[i] = by_mpi[i] = -1;
  }
}

static void expect_same(const char* call, const char* where, int round) {
  if (memcmp(to, by_mpi, sizeof *to * numbers) == 0 || failures++ > 3) return;
  int i = 0;
  while (to[i] == by_mpi[i]) ++i;
  fprintf(stderr, "rank %d: %s on %s, round %d: number %d is %d, by MPI %d\n", rank, call, where, round, i,
          to[i], by_mpi[i]);
}

static void of_one_length(MPI_Comm comm, const char* where, int round, MPI_Datatype every_second) {
  const int count = length(0, 0, round);
  prepare(round);
  MPI_Neighbor_allgather(from, count, MPI_INT, to, count, MPI_INT, comm);
  PMPI_Neighbor_allgather(from, count, MPI_INT, by_mpi, count, MPI_INT, comm);
  expect_same("MPI_Neighbor_allgather", where, round);
  prepare(round);
  MPI_Neighbor_alltoall(from, count, MPI_INT, to, count, every_second, comm);
  PMPI_Neighbor_alltoall(from, count, MPI_INT, by_mpi, count, every_second, comm);
  expect_same("MPI_Neighbor_alltoall", where, round);
}

/* Every other edge leaves as elements with gaps, and comes as elements in a row. */
static void of_many_types(MPI_Comm comm, const char* where, int round, const int* sent, const int* received,
                          MPI_Datatype every_second) {
  MPI_Datatype left[most_edges], come[most_edges];
  MPI_Aint begins[most_edges], ends[most_edges];
  for (int i = 0; i < most_edges; ++i) {
    left[i] = i % 2 ? every_second : MPI_INT;
    come[i] = MPI_INT;
    begins[i] = (MPI_Aint)sizeof(int) * (i * longest + 1);
    ends[i] = (MPI_Aint)sizeof(int) * ((most_edges - 1 - i) * (longest + 3) + i);
  }
  prepare(round);
  MPI_Neighbor_alltoallw(from, sent, begins, left, to, received, ends, come, comm);
  PMPI_Neighbor_alltoallw(from, sent, begins, left, by_mpi, received, ends, come, comm);
  expect_same("MPI_Neighbor_alltoallw", where, round);
}

static void of_many_lengths(MPI_Comm comm, const char* where, int round, MPI_Datatype every_second) {
  int sent[most_edges], received[most_edges], begins[most_edges], ends[most_edges];
  for (int i = 0; i < most_edges; ++i) {
    begins[i] = i * longest;
    ends[i] = (most_edges - 1 - i) * (longest + 3) + i;
    sent[i] = i < out ? length(rank, destinations[i], round) : 0;
    received[i] = i < in ? length(sources[i], rank, round) : 0;
  }
  prepare(round);
  MPI_Neighbor_alltoallv(from, sent, begins, MPI_INT, to, received, ends, MPI_INT, comm);
  PMPI_Neighbor_alltoallv(from, sent, begins, MPI_INT, by_mpi, received, ends, MPI_INT, comm);
  expect_same("MPI_Neighbor_alltoallv", where, round);
  of_many_types(comm, where, round, sent, received, every_second);
  for (int i = 0; i < in; ++i) received[i] = length(sources[i], 0, round);
  prepare(round);
  MPI_Neighbor_allgatherv(from, length(rank, 0, round), MPI_INT, to, received, ends, MPI_INT, comm);
  PMPI_Neighbor_allgatherv(from, length(rank, 0, round), MPI_INT, by_mpi, received, ends, MPI_INT, comm);
  expect_same("MPI_Neighbor_allgatherv", where, round);
}

static void all(MPI_Comm comm, const char* where) {
  MPI_Datatype pair, every_second;
  MPI_Type_vector(1, 1, 2, MPI_INT, &pair);
  MPI_Type_create_resized(pair, 0, 2 * sizeof(int), &every_second);
  MPI_Type_commit(&every_second);
  for (int round = 0; round < rounds; ++round) {
    of_one_length(comm, where, round, every_second);
    of_many_lengths(comm, where, round, every_second);
  }
#if MPI_VERSION >= 4
  prepare(0);
  MPI_Neighbor_alltoall_c(from, 5, MPI_INT, to, 5, MPI_INT, comm);
  PMPI_Neighbor_alltoall_c(from, 5, MPI_INT, by_mpi, 5, MPI_INT, comm);
  expect_same("MPI_Neighbor_alltoall_c", where, 0);
#endif
  MPI_Type_free(&pair);
  MPI_Type_free(&every_second);
  MPI_Comm_free(&comm);
}

static void grid(const char* where, int rows, int is_periodic) {
  MPI_Comm comm;
  MPI_Cart_create(MPI_COMM_WORLD, 2, (int[]){rows, size / rows}, (int[]){is_periodic, is_periodic}, 0, &comm);
  if (comm == MPI_COMM_NULL) return;
  MPI_Cart_shift(comm, 0, 1, &sources[0], &sources[1]);
  MPI_Cart_shift(comm, 1, 1, &sources[2], &sources[3]);
  memcpy(destinations, sources, sizeof sources);
  in = out = 4;
  all(comm, where);
}

static void ring(void) {
  MPI_Comm comm;
  int ends[64], edges[128];
  for (int i = 0; i < size; ++i) {
    ends[i] = 2 * (i + 1);
    edges[2 * i] = (i + 1) % size;
    edges[2 * i + 1] = (i + size - 1) % size;
  }
  MPI_Graph_create(MPI_COMM_WORLD, size, ends, edges, 0, &comm);
  memcpy(sources, edges + 2 * rank, 2 * sizeof *sources);
  memcpy(destinations, sources, sizeof sources);
  in = out = 2;
  all(comm, "a ring");
}

/* All but the last rank send in a circle, one way and twice, and each to itself; the last has no neighbours. */
static void one_way(void) {
  const int ranks = size - 1;
  MPI_Comm comm;
  in = out = rank < ranks ? 3 : 0;
  sources[0] = sources[1] = (rank + ranks - 1) % ranks;
  destinations[0] = destinations[2] = (rank + 1) % ranks;
  sources[2] = destinations[1] = rank;
  const int weights[] = {1, 1, 1};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, in, sources, weights, out, destinations, weights,
                                 MPI_INFO_NULL, 0, &comm);
  all(comm, "a graph");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  from = malloc(sizeof *from * numbers);
  to = malloc(sizeof *to * numbers);
  by_mpi = malloc(sizeof *by_mpi * numbers);
  grid("a torus", size, 1);
  grid("a grid", 1, 0);
  ring();
  if (size > 1) one_way();
  int every = 0;
  MPI_Allreduce(&failures, &every, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%s\n", every == 0 ? "all is right" : "something is wrong");
  free(from);
  free(to);
  free(by_mpi);
  MPI_Finalize();
  return every != 0;
}
