#include <type_traits>

#include "fft/gpu/kernels.hpp"

namespace tca::fft {

namespace {

constexpr unsigned block_size = 256;
constexpr unsigned most_rows = 65535;  // of a grid's second and third dimension

// A block takes a piece of a row, of every row of the grid's second and third dimension and those that are beyond it.
template <class Act>
__device__ void each_number(const std::int64_t* size, const Act& act) {
  const std::int64_t z = static_cast<std::int64_t>(blockIdx.x) * block_size + threadIdx.x;
  if (z >= size[2]) return;
  for (std::int64_t x = blockIdx.z; x < size[0]; x += gridDim.z)
    for (std::int64_t y = blockIdx.y; y < size[1]; y += gridDim.y) act(x, y, z);
}

unsigned up_to(std::int64_t rows) { return static_cast<unsigned>(rows < most_rows ? rows : most_rows); }

dim3 grid_for(const std::int64_t* size) {
  return {static_cast<unsigned>((size[2] + block_size - 1) / block_size), up_to(size[1]), up_to(size[0])};
}

template <class Number>
__global__ void __launch_bounds__(block_size) copy_box(const Number* from, Number* to, BoxCopy copy) {
  each_number(copy.size, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    to[copy.to + x * copy.to_pitch[0] + y * copy.to_pitch[1] + z] =
        from[copy.from + x * copy.from_pitch[0] + y * copy.from_pitch[1] + z];
  });
}

struct Evolved {
  double2 *kept, *to;
  const double *along_x, *along_y, *along_z;
  std::int64_t size[3];
};

__global__ void __launch_bounds__(block_size) evolve(Evolved of) {
  each_number(of.size, [&](std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::int64_t at = (x * of.size[1] + y) * of.size[2] + z;
    const double factor = of.along_x[x] * of.along_y[y] * of.along_z[z];
    const double2 number{of.kept[at].x * factor, of.kept[at].y * factor};
    of.kept[at] = number;
    of.to[at] = number;
  });
}

// One block, which adds up in the same order every time.
__global__ void __launch_bounds__(block_size)
    add_up(const double2* numbers, const std::int64_t* places, int count, double2* sum) {
  __shared__ double2 part[block_size];
  double2 own{0, 0};
  for (int i = static_cast<int>(threadIdx.x); i < count; i += block_size) {
    own.x += numbers[places[i]].x;
    own.y += numbers[places[i]].y;
  }
  part[threadIdx.x] = own;
  for (unsigned half = block_size / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x >= half) continue;
    part[threadIdx.x].x += part[threadIdx.x + half].x;
    part[threadIdx.x].y += part[threadIdx.x + half].y;
  }
  if (threadIdx.x == 0) *sum = part[0];
}

}  // namespace

template <class Real>
cudaError_t launch_copy(const void* from, void* to, const BoxCopy& copy, cudaStream_t stream) {
  using Number = std::conditional_t<sizeof(Real) == sizeof(float), float2, double2>;
  copy_box<<<grid_for(copy.size), block_size, 0, stream>>>(static_cast<const Number*>(from),
                                                           static_cast<Number*>(to), copy);
  return cudaGetLastError();
}

template cudaError_t launch_copy<float>(const void*, void*, const BoxCopy&, cudaStream_t);
template cudaError_t launch_copy<double>(const void*, void*, const BoxCopy&, cudaStream_t);

cudaError_t launch_evolve(double2* kept, double2* to, const double* along_x, const double* along_y,
                          const double* along_z, const std::int64_t (&size)[3], cudaStream_t stream) {
  evolve<<<grid_for(size), block_size, 0, stream>>>(
      {kept, to, along_x, along_y, along_z, {size[0], size[1], size[2]}});
  return cudaGetLastError();
}

cudaError_t launch_add_up(const double2* numbers, const std::int64_t* places, int count, double2* sum,
                          cudaStream_t stream) {
  add_up<<<1, block_size, 0, stream>>>(numbers, places, count, sum);
  return cudaGetLastError();
}

}  // namespace tca::fft
