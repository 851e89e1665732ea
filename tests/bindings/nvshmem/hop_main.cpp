// A program of MPI that uses NVSHMEM through a library (hop.hpp), and does not take it down.
#include <cstdio>

#include "hop.hpp"

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  const int errors = hop::errors(MPI_COMM_WORLD, 100);
  std::printf("hop: %d sites wrong\n", errors);
  MPI_Finalize();
  return errors == 0 ? 0 : 1;
}
