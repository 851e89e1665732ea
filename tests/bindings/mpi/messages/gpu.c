/* Messages and collectives whose buffers are in memory of GPUs, on two ranks, each of which takes the GPU of its number. The MPI under it
   need not know of GPUs. Prints what is wrong, and ends with a code other than 0. */
#include <cuda_runtime_api.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { most = 1 << 22 };
static int numbers[most], got[most];

static int* of_gpu(void) {
  void* memory;
  CHECK(cudaMalloc(&memory, sizeof numbers) == cudaSuccess);
  return memory;
}

static void upload(int* memory, int count, int first) {
  for (int i = 0; i < count; ++i) numbers[i] = first + i;
  CHECK(cudaMemcpy(memory, numbers, sizeof(int) * (size_t)count, cudaMemcpyDefault) == cudaSuccess);
}

static void expect(const int* memory, int count, int first) {
  int differing = 0;
  CHECK(cudaMemcpy(got, memory, sizeof(int) * (size_t)count, cudaMemcpyDefault) == cudaSuccess);
  for (int i = 0; i < count; ++i) differing += got[i] != first + i;
  CHECK(differing == 0);
}

static void clear(int* memory) { CHECK(cudaMemset(memory, 0xFF, sizeof numbers) == cudaSuccess); }

/* From either kind of memory to either. */
static void kinds(void) {
  static int in_host[2][most];
  const int sizes[] = {1, 2, 3, 100, 1024, 20000, 300001, most};
  int *device_out = of_gpu(), *device_in = of_gpu();
  for (int each = 0; each < 8; ++each)
    for (int way = 0; way < 4; ++way) {
      const int count = sizes[each], first = 1000 * each + way;
      int* const out = way & 1 ? device_out : in_host[0];
      int* const in = way & 2 ? device_in : in_host[1];
      MPI_Request request;
      MPI_Status status;
      int received;
      if (rank == 0) {
        upload(out, count, first);
        MPI_Send(out, count, MPI_INT, 1, way, MPI_COMM_WORLD);
        MPI_Isend(out, count, MPI_INT, 1, way, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ssend(out, count, MPI_INT, 1, way, MPI_COMM_WORLD);
      } else {
        for (int time = 0; time < 3; ++time) {
          clear(device_in);
          if (time == 1) MPI_Probe(0, way, MPI_COMM_WORLD, &status);
          MPI_Recv(in, most, MPI_INT, MPI_ANY_SOURCE, way, MPI_COMM_WORLD, &status);
          MPI_Get_count(&status, MPI_INT, &received);
          CHECK(received == count);
          expect(in, count, first);
        }
      }
    }
  cudaFree(device_out);
  cudaFree(device_in);
}

/* Few bytes are sent though nobody receives them yet, and may be overwritten then. */
static void at_once(void) {
  int *out = of_gpu(), *in = of_gpu();
  for (int round = 0; round < 5; ++round) {
    upload(out, 100, 10 * round + rank);
    MPI_Send(out, 100, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD);
    clear(out);
    MPI_Recv(in, 100, MPI_INT, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(in, 100, 10 * round + 1 - rank);
  }
  cudaFree(out);
  cudaFree(in);
}

/* Memory that comes where other memory was. */
static void freed(void) {
  for (int round = 0; round < 5; ++round) {
    int* const memory = of_gpu();
    if (rank == 0) {
      upload(memory, 50000, round);
      MPI_Send(memory, 50000, MPI_INT, 1, 6, MPI_COMM_WORLD);
    } else {
      MPI_Recv(memory, 50000, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      expect(memory, 50000, round);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    cudaFree(memory);
  }
}

/* What arrives is what MPI makes of the same in host memory. */
static void types(void) {
  enum { bytes = 1 << 20 };
  static char plain[bytes], expected[bytes], answer[bytes], packed[bytes];
  int many[40], lengths[40];
  MPI_Datatype all[5];
  char *device, *other;
  for (int i = 0; i < 40; ++i) {
    many[i] = 7 * i + i % 3;
    lengths[i] = 1 + i % 4;
  }
  MPI_Type_vector(100, 3, 17, MPI_INT, &all[0]);
  MPI_Type_vector(64, 1, 64, MPI_DOUBLE, &all[1]);
  MPI_Type_indexed(40, lengths, many, MPI_INT, &all[2]);
  MPI_Type_create_subarray(3, (int[]){20, 16, 12}, (int[]){5, 9, 7}, (int[]){3, 2, 1}, MPI_ORDER_C, MPI_FLOAT,
                           &all[3]);
  MPI_Type_create_indexed_block(4, 3, (int[]){20, 3, 9, 40}, MPI_SHORT, &all[4]);
  cudaMalloc((void**)&device, bytes);
  cudaMalloc((void**)&other, bytes);
  for (int each = 0; each < 5; ++each) {
    int size, at = 0;
    MPI_Type_commit(&all[each]);
    MPI_Type_size(all[each], &size);
    for (int i = 0; i < bytes; ++i) plain[i] = (char)(i * 31 + i / 255 + each);
    cudaMemcpy(device, plain, bytes, cudaMemcpyDefault);
    MPI_Pack(plain, 2, all[each], packed, bytes, &at, MPI_COMM_SELF);
    memset(expected, 0, bytes);
    at = 0;
    MPI_Unpack(packed, bytes, &at, expected, 2, all[each], MPI_COMM_SELF);
    if (rank == 0) {
      MPI_Send(device, 2, all[each], 1, 7, MPI_COMM_WORLD);
      MPI_Send(device, 2, all[each], 1, 8, MPI_COMM_WORLD);
      MPI_Send(packed, 2 * size, MPI_BYTE, 1, 9, MPI_COMM_WORLD);
    } else {
      MPI_Recv(answer, bytes, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK(memcmp(answer, packed, 2 * (size_t)size) == 0);
      for (int tag = 8; tag < 10; ++tag) {
        cudaMemset(other, 0, bytes);
        MPI_Recv(other, 2, all[each], 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        cudaMemcpy(answer, other, bytes, cudaMemcpyDefault);
        CHECK(memcmp(answer, expected, bytes) == 0);
      }
    }
    MPI_Type_free(&all[each]);
  }
  cudaFree(device);
  cudaFree(other);
}

static void collectives(void) {
  int *mine = of_gpu(), *all = of_gpu();
  for (int round = 0; round < 8; ++round) {
    upload(mine, 16, 100 * rank + round);
    MPI_Allgather(mine, 16, MPI_INT, all, 16, MPI_INT, MPI_COMM_WORLD);
    expect(all, 16, round);
    expect(all + 16, 16, 100 + round);
    MPI_Alltoall(all, 16, MPI_INT, mine, 16, MPI_INT, MPI_COMM_WORLD);
    expect(mine + 16 * rank, 16, 100 * rank + round);
    upload(mine, 1, rank + round);
    MPI_Allreduce(MPI_IN_PLACE, mine, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect(mine, 1, 1 + 2 * round);
  }
  cudaFree(mine);
  cudaFree(all);
}

int main(int argc, char** argv) {
  int gpus = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (cudaGetDeviceCount(&gpus) == cudaSuccess && gpus > 0) {
    cudaSetDevice(rank % gpus);
    kinds();
    at_once();
    freed();
    types();
    /* The first calls of a collective are MPI's, which has to know of GPUs. */
    if (argc > 1 && strcmp(argv[1], "collectives") == 0) collectives();
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (rank == 0 && !wrong) puts("all messages are right");
  } else if (rank == 0) {
    puts("there is no GPU");
  }
  MPI_Finalize();
  return wrong;
}
