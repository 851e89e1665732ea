#include "field.hpp"
#include "tca/chain.cuh"
#include "tca/engine.cuh"
#include "tca/operations.hpp"

namespace tca::test {
namespace {

__device__ int first_index() { return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ int stride() { return static_cast<int>(gridDim.x * blockDim.x); }
__device__ long value(int rank, long step, int place) { return (step * 100 + rank) * 100000 + place; }

__device__ void write(const Field& f, long step) {
  for (int i = first_index(); i < rows * pitch; i += stride()) {
    const int column = i % pitch;
    if (column >= width && column < pitch - width) f.u[i] = value(f.rank, step, i);
  }
}

__device__ void check(const Field& f, long step) {
  for (int i = first_index(); i < rows * width; i += stride()) {
    const int row = i / width * pitch, column = i % width;
    if (f.u[row + column] != value(f.left, step, row + pitch - 2 * width + column)) atomicAdd(f.wrong, 1u);
    if (f.u[row + pitch - width + column] != value(f.right, step, row + width + column))
      atomicAdd(f.wrong, 1u);
  }
}

template <class T>
__global__ void fold_kernel(const __grid_constant__ DeviceChain chain,
                            const __grid_constant__ DeviceFold field,
                            const __grid_constant__ DeviceFold pairs) {
  GridChain step(chain);
  step.start();
  if (!step.wait()) return;
  device::fold_cells<T>(field, first_index(), stride(), Sum());
  device::fold_cells<T>(pairs, first_index(), stride(), Sum());
  step.barrier();
}

__global__ void write_kernel(Field f, long step) { write(f, step); }
__global__ void check_kernel(Field f, long step) { check(f, step); }
__global__ void write_next_kernel(Field f, long* step) {
  write(f, *step + 1);
  __syncthreads();
  if (threadIdx.x == 0) ++*step;
}
__global__ void check_next_kernel(Field f, const long* step) { check(f, *step); }

__global__ void steps_kernel(const __grid_constant__ DeviceChain chain, Field f, long first, int steps) {
  GridChain halo(chain);
  for (int k = 0; k < steps && halo.good(); ++k) {
    write(f, first + k);
    halo.start();
    if (halo.wait()) check(f, first + k);
  }
}

__global__ void ring_kernel(const __grid_constant__ DeviceDoorbell doorbell, Field f, long first, int steps) {
  EngineChain halo(doorbell);
  for (int k = 0; k < steps; ++k) {
    write(f, first + k);
    __syncthreads();
    if (threadIdx.x == 0) halo.start();
    if (__syncthreads_or(threadIdx.x == 0 && !halo.wait())) return;
    check(f, first + k);
    __syncthreads();
  }
}

}  // namespace

void write_faces(const Field& field, long step, cudaStream_t stream) {
  write_kernel<<<4, 128, 0, stream>>>(field, step);
}
void check_ghosts(const Field& field, long step, cudaStream_t stream) {
  check_kernel<<<2, 128, 0, stream>>>(field, step);
}
void write_next_faces(const Field& field, long* step, cudaStream_t stream) {
  write_next_kernel<<<1, 256, 0, stream>>>(field, step);
}
void check_next_ghosts(const Field& field, const long* step, cudaStream_t stream) {
  check_next_kernel<<<2, 128, 0, stream>>>(field, step);
}
cudaError_t run_steps(const DeviceChain& chain, const Field& field, long first, int steps,
                      cudaStream_t stream) {
  void* arguments[] = {const_cast<DeviceChain*>(&chain), const_cast<Field*>(&field), &first, &steps};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(steps_kernel), dim3(6), dim3(128), arguments, 0,
                                     stream);
}
cudaError_t ring_steps(const DeviceDoorbell& doorbell, const Field& field, long first, int steps,
                       cudaStream_t stream) {
  ring_kernel<<<1, 256, 0, stream>>>(doorbell, field, first, steps);
  return cudaGetLastError();
}

template <class T>
cudaError_t fold_step(const DeviceChain& chain, const DeviceFold& field, const DeviceFold& pairs,
                      cudaStream_t stream) {
  void* arguments[] = {const_cast<DeviceChain*>(&chain), const_cast<DeviceFold*>(&field),
                       const_cast<DeviceFold*>(&pairs)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(fold_kernel<T>), dim3(4), dim3(128), arguments,
                                     0, stream);
}
template cudaError_t fold_step<double>(const DeviceChain&, const DeviceFold&, const DeviceFold&,
                                       cudaStream_t);
template cudaError_t fold_step<std::int64_t>(const DeviceChain&, const DeviceFold&, const DeviceFold&,
                                             cudaStream_t);

}  // namespace tca::test
