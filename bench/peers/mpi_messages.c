/* Times messages between two ranks whose buffers are in host memory, by the way that a program's calls go:
 *
 *   mpicc -O2 bench/peers/mpi_messages.c -o mpi_messages
 *   mpirun -n 2 ./mpi_messages && OPENTCA_MPI=all mpirun -n 2 tca mpi ./mpi_messages
 *
 * A ping-pong of MPI_Send and MPI_Recv (one way), and an exchange by both at once, of elements that are written before and read after.
 * Prints a line of JSON for each size: the median of batches, of the rank that took longest. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { batches = 15, most_bytes = 1 << 20 };

static double *from, *to, sum;
static int rank;

static void write_elements(int bytes) {
  for (int i = 0; i < bytes / (int)sizeof *from; ++i) from[i] += 1;
}

static void read_elements(int bytes) {
  for (int i = 0; i < bytes / (int)sizeof *to; ++i) sum += to[i];
}

static void ping_pong(int bytes) {
  for (int turn = 0; turn < 2; ++turn)
    if (turn == rank) {
      write_elements(bytes);
      MPI_Send(from, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
    } else {
      MPI_Recv(to, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      read_elements(bytes);
    }
}

static void exchange(int bytes) {
  MPI_Request requests[2];
  write_elements(bytes);
  MPI_Irecv(to, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(from, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  read_elements(bytes);
}

static int by_size(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(const char* name, void call(int), double messages, int bytes, const char* library) {
  const int times = bytes < 16384 ? 1000 : 100;
  double us[batches];
  for (int i = -2; i < batches; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int each = 0; each < times; ++each) call(bytes);
    double took = (MPI_Wtime() - begin) / times / messages * 1e6;
    MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (i >= 0) us[i] = took;
  }
  qsort(us, batches, sizeof *us, by_size);
  if (rank == 0)
    printf(
        "{\"bench\": \"mpi_%s\", \"layout\": \"contiguous\", \"bytes\": %d, \"ranks\": 2, \"way\": \"%s\", "
        "\"mpi\": \"%s\", "
        "\"median_us\": %.4f, \"least_us\": %.4f}\n",
        name, bytes, getenv("OPENTCA_MPI_JOB") != NULL ? "tca mpi" : "mpi", library, us[batches / 2], us[0]);
}

int main(int argc, char** argv) {
  char library[MPI_MAX_LIBRARY_VERSION_STRING];
  int length, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    if (rank == 0) fprintf(stderr, "mpi_messages: %d ranks; it is for 2\n", ranks);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Get_library_version(library, &length);
  library[strcspn(library, ",\n\t")] = '\0';
  from = calloc(1, most_bytes);
  to = calloc(1, most_bytes);
  for (int bytes = 8; bytes <= most_bytes; bytes *= 2) {
    measure("pingpong", ping_pong, 2, bytes, library);
    measure("exchange", exchange, 1, bytes, library);
  }
  if (sum < 0) puts("nothing was read");
  free(from);
  free(to);
  MPI_Finalize();
  return 0;
}
