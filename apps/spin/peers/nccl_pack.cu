#include "spin/peers/nccl_pack.hpp"

namespace tca::spin {

namespace {

constexpr unsigned threads = 256;

template <class Real>
__device__ Real* place_of(const Sites<Real>& sites, Word colour, const Cell& cell) {
  return sites.of_replica(colour, cell.replica) + sites.index(cell);
}

template <class Real>
__global__ void __launch_bounds__(threads)
    pack_kernel(const __grid_constant__ Sites<Real> sites, const __grid_constant__ Cells cells, Word colour,
                Vector<Real>* buffer) {
  const Word n = blockIdx.x * threads + threadIdx.x;
  if (n < cells.all) buffer[n] = load(place_of(sites, colour, cells[n]), sites.elements);
}

template <class Real>
__global__ void __launch_bounds__(threads)
    unpack_kernel(const __grid_constant__ Sites<Real> sites, const __grid_constant__ Cells cells, Word colour,
                  const Vector<Real>* buffer) {
  const Word n = blockIdx.x * threads + threadIdx.x;
  if (n < cells.all) store(place_of(sites, colour, cells[n]), sites.elements, buffer[n]);
}

unsigned blocks_for(const Cells& cells) { return (cells.all + threads - 1) / threads; }

}  // namespace

template <class Real>
cudaError_t launch_pack(const Sites<Real>& sites, const Cells& cells, Word colour, Vector<Real>* buffer,
                        cudaStream_t stream) {
  pack_kernel<<<blocks_for(cells), threads, 0, stream>>>(sites, cells, colour, buffer);
  return cudaGetLastError();
}

template <class Real>
cudaError_t launch_unpack(const Sites<Real>& sites, const Cells& cells, Word colour,
                          const Vector<Real>* buffer, cudaStream_t stream) {
  unpack_kernel<<<blocks_for(cells), threads, 0, stream>>>(sites, cells, colour, buffer);
  return cudaGetLastError();
}

template cudaError_t launch_pack(const Sites<float>&, const Cells&, Word, Vector<float>*, cudaStream_t);
template cudaError_t launch_pack(const Sites<double>&, const Cells&, Word, Vector<double>*, cudaStream_t);
template cudaError_t launch_unpack(const Sites<float>&, const Cells&, Word, const Vector<float>*,
                                   cudaStream_t);
template cudaError_t launch_unpack(const Sites<double>&, const Cells&, Word, const Vector<double>*,
                                   cudaStream_t);

}  // namespace tca::spin
