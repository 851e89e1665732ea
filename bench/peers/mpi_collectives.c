/* Times collectives by the way that a program's calls go, beside MPI's own (PMPI_...), in turn and in one run:
 *
 *   mpicc -O2 bench/peers/mpi_collectives.c -o mpi_collectives && mpirun -n 2 tca mpi ./mpi_collectives
 *
 * Prints a line of JSON for each collective, size and way: the median of batches, of the rank that took longest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batches = 15, most_bytes = 65536 };

static char *from, *to;
static int rank, ranks;
static MPI_Comm ring;

typedef int run(int bytes, int by_mpi);

static int barrier(int bytes, int by_mpi) {
  (void)bytes;
  return by_mpi ? PMPI_Barrier(MPI_COMM_WORLD) : MPI_Barrier(MPI_COMM_WORLD);
}
static int bcast(int bytes, int by_mpi) {
  return by_mpi ? PMPI_Bcast(from, bytes, MPI_BYTE, 0, MPI_COMM_WORLD)
                : MPI_Bcast(from, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static int reduce(int bytes, int by_mpi) {
  const int n = bytes / 8;
  return by_mpi ? PMPI_Reduce(from, to, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD)
                : MPI_Reduce(from, to, n, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}
static int allreduce(int bytes, int by_mpi) {
  const int n = bytes / 8;
  return by_mpi ? PMPI_Allreduce(from, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)
                : MPI_Allreduce(from, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
static int allgather(int bytes, int by_mpi) {
  return by_mpi ? PMPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD)
                : MPI_Allgather(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static int alltoall(int bytes, int by_mpi) {
  return by_mpi ? PMPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD)
                : MPI_Alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, MPI_COMM_WORLD);
}
static int reduce_scatter(int bytes, int by_mpi) {
  const int n = bytes / 8;
  return by_mpi ? PMPI_Reduce_scatter_block(from, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD)
                : MPI_Reduce_scatter_block(from, to, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}
/* Of a ring, which two ranks close twice. */
static int neighbor_alltoall(int bytes, int by_mpi) {
  return by_mpi ? PMPI_Neighbor_alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, ring)
                : MPI_Neighbor_alltoall(from, bytes, MPI_BYTE, to, bytes, MPI_BYTE, ring);
}

static const struct {
  const char* name;
  run* call;
} kinds[] = {{"barrier", barrier},
             {"bcast", bcast},
             {"reduce", reduce},
             {"allreduce", allreduce},
             {"allgather", allgather},
             {"alltoall", alltoall},
             {"reduce_scatter_block", reduce_scatter},
             {"neighbor_alltoall", neighbor_alltoall}};

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static double batch(run* call, int bytes, int by_mpi, int times) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < times; ++i) call(bytes, by_mpi);
  double took = (MPI_Wtime() - begin) / times * 1e6;
  PMPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return took;
}

static void measure(const char* name, run* call, int bytes, const char* library) {
  const int times = bytes < 8192 ? 600 : 100;
  double us[2][batches];
  for (int i = 0; i < 4; ++i) call(bytes, 0); /* after which it is served, or never */
  for (int i = 0; i < batches; ++i)
    for (int by_mpi = 0; by_mpi < 2; ++by_mpi) us[by_mpi][i] = batch(call, bytes, by_mpi, times);
  for (int by_mpi = 0; by_mpi < 2 && rank == 0; ++by_mpi) {
    qsort(us[by_mpi], batches, sizeof **us, by_size);
    printf(
        "{\"bench\": \"mpi_%s\", \"layout\": \"contiguous\", \"bytes\": %d, \"ranks\": %d, \"way\": \"%s\", "
        "\"mpi\": "
        "\"%s\", \"median_us\": %.4f, \"least_us\": %.4f}\n",
        name, bytes, ranks, by_mpi ? "mpi" : "tca mpi", library, us[by_mpi][batches / 2], us[by_mpi][0]);
    fflush(stdout);
  }
}

int main(int argc, char** argv) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Get_library_version(library, &length);
  library[strcspn(library, ",\n\t")] = '\0';
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &(int){1}, 0, &ring);
  from = calloc((size_t)ranks + 1, most_bytes);
  to = calloc((size_t)ranks + 1, most_bytes);
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i)
    for (int bytes = 8; bytes <= most_bytes; bytes *= 2) {
      if (kinds[i].call == barrier && bytes > 8) break;
      measure(kinds[i].name, kinds[i].call, kinds[i].call == barrier ? 0 : bytes, library);
    }
  free(from);
  free(to);
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return 0;
}
