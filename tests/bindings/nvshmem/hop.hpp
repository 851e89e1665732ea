// A hop of a ring of PEs in one launch, as lattice QCD codes do it: a shared library that makes all of NVSHMEM's calls, so that
// who links it needs neither nvcc nor NVSHMEM.
#pragma once

#include <mpi.h>

#include <cstdint>

namespace hop {

constexpr int faces = 2, sites = 1000;  // a face to either side

// What a launch of the kernel is told. Ghosts take turns, so that a PE may be a step ahead of its neighbours.
struct Arguments {
  int neighbours[faces];
  double* there[faces];  // the ghosts at the neighbours that this PE's faces go to
  const double* ghosts[faces];
  uint64_t* arrived;  // of each ghost: the last step whose face is in it
  unsigned* tickets;  // of each face: how many blocks have packed their share
  unsigned* wrong;    // how many sites of the ghosts were
  double face;        // its first site; the others count up
  uint64_t step;
};
void launch(const Arguments& arguments);

// Collective. How many sites of the ghosts were wrong in so many steps, or -1 after an error.
int errors(MPI_Comm comm, int steps);

}  // namespace hop
