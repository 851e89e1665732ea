#include "himeno/gpu/nccl_pack.hpp"

namespace tca::himeno {

namespace {

using device::Word;

constexpr unsigned threads = 256;

__device__ Word element_at(const Packing& packing, Word place) {
  Word which = 0, begin = 0;
  while (place >= packing.boxes[which].end) begin = packing.boxes[which++].end;
  const Packed& box = packing.boxes[which];
  const Word row = box.cells.divide(place - begin);
  const Word i = box.width.divide(row);
  const Word j = row - i * box.width.value;
  return box.first + i * packing.plane + j * packing.row + (place - begin - row * box.cells.value);
}

__global__ void __launch_bounds__(threads)
    pack_kernel(const __grid_constant__ Packing packing, Word elements, const float* array, float* buffer) {
  const Word place = blockIdx.x * threads + threadIdx.x;
  if (place < elements) buffer[place] = array[element_at(packing, place)];
}

__global__ void __launch_bounds__(threads)
    unpack_kernel(const __grid_constant__ Packing packing, Word elements, float* array, const float* buffer) {
  const Word place = blockIdx.x * threads + threadIdx.x;
  if (place < elements) array[element_at(packing, place)] = buffer[place];
}

unsigned blocks_for(Word elements) { return (elements + threads - 1) / threads; }

}  // namespace

cudaError_t launch_pack(const Packing& packing, const float* array, float* buffer, cudaStream_t stream) {
  const Word elements = packing.elements();
  pack_kernel<<<blocks_for(elements), threads, 0, stream>>>(packing, elements, array, buffer);
  return cudaGetLastError();
}

cudaError_t launch_unpack(const Packing& packing, float* array, const float* buffer, cudaStream_t stream) {
  const Word elements = packing.elements();
  unpack_kernel<<<blocks_for(elements), threads, 0, stream>>>(packing, elements, array, buffer);
  return cudaGetLastError();
}

}  // namespace tca::himeno
