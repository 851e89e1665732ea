// The kernels that a transform needs beside cuFFT's: those of NPB's steps, and those that pack for NCCL.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace tca::fft {

// A box that is copied from one array to another; numbers are complex, and places are counted in them.
struct BoxCopy {
  std::int64_t size[3];
  std::int64_t from, from_pitch[2];  // where it begins, and from one x and one y to the next
  std::int64_t to, to_pitch[2];
};

template <class Real>
cudaError_t launch_copy(const void* from, void* to, const BoxCopy& copy, cudaStream_t stream);

// Multiplies the kept numbers of a box by a factor for each dimension, and copies them.
cudaError_t launch_evolve(double2* kept, double2* to, const double* along_x, const double* along_y,
                          const double* along_z, const std::int64_t (&size)[3], cudaStream_t stream);

// Adds up the numbers at some places.
cudaError_t launch_add_up(const double2* numbers, const std::int64_t* places, int count, double2* sum,
                          cudaStream_t stream);

}  // namespace tca::fft
