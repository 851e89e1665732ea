/* Ping-pongs between two ranks whose buffers are in memory of GPUs, one way in us, medians: `direct` gives them to MPI (under `tca mpi`
   with OPENTCA_MPI=all), `staged` copies them to pinned host memory before and back after, as a program has to whose MPI does not know of
   GPUs. Bytes in a row, and columns of a matrix of doubles: a datatype, or cudaMemcpy2D. */
#include <cuda_runtime_api.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { repeats = 300 };
static int rank, is_staged;
static char *device, *host;
static cudaStream_t stream;

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void to_host(size_t width, size_t pitch, size_t rows) {
  cudaMemcpy2DAsync(host, width, device, pitch, width, rows, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
}

static void to_device(size_t width, size_t pitch, size_t rows) {
  cudaMemcpy2DAsync(device, pitch, host, width, width, rows, cudaMemcpyHostToDevice, stream);
  cudaStreamSynchronize(stream);
}

static void ping_pong(const char* what, size_t width, size_t pitch, size_t rows) {
  static double times[repeats];
  MPI_Datatype type = MPI_BYTE;
  const int bytes = (int)(width * rows), other = 1 - rank;
  if (rows > 1) MPI_Type_vector((int)rows, (int)width, (int)pitch, MPI_BYTE, &type);
  if (rows > 1) MPI_Type_commit(&type);
  for (int each = -20; each < repeats; ++each) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (int turn = 0; turn < 2; ++turn) {
      const int sends = turn == rank;
      if (is_staged) {
        if (sends) {
          to_host(width, pitch, rows);
          MPI_Send(host, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
        } else {
          MPI_Recv(host, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
          to_device(width, pitch, rows);
        }
      } else if (sends) {
        MPI_Send(device, rows > 1 ? 1 : bytes, type, other, 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(device, rows > 1 ? 1 : bytes, type, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    if (each >= 0) times[each] = (MPI_Wtime() - begin) * 5e5;
  }
  if (rows > 1) MPI_Type_free(&type);
  qsort(times, repeats, sizeof *times, compare);
  if (rank == 0)
    printf("%-7s %-8s %8d bytes: %8.2f us (5 %% below %.2f, above %.2f)\n", is_staged ? "staged" : "direct",
           what, bytes, times[repeats / 2], times[repeats / 20], times[repeats - repeats / 20]);
}

int main(int argc, char** argv) {
  int gpus = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  is_staged = argc > 1 && strcmp(argv[1], "staged") == 0;
  cudaGetDeviceCount(&gpus);
  cudaSetDevice(rank % gpus);
  cudaMalloc((void**)&device, 256 << 20);
  cudaMallocHost((void**)&host, 64 << 20);
  cudaStreamCreate(&stream);
  for (size_t bytes = 8; bytes <= 64 << 20; bytes *= 8) ping_pong("row", bytes, bytes, 1);
  ping_pong("row", 1 << 20, 1 << 20, 1);
  ping_pong("columns", 8, 64, 128);
  ping_pong("columns", 8, 64, 131072);
  ping_pong("columns", 64, 512, 16384);
  MPI_Finalize();
  return 0;
}
