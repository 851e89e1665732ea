// The kernels of half a sweep and of its sums, for when the host or a graph starts them one by one.
#include <algorithm>

#include "spin/gpu/sums.cuh"

namespace tca::spin {

namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(Word cells) { return (cells + threads - 1) / threads; }

template <Update update, class Real>
__global__ void __launch_bounds__(threads)
    half_sweep_kernel(const __grid_constant__ Sites<Real> sites, const __grid_constant__ Cells cells,
                      const __grid_constant__ HalfSweep half) {
  const Word number = half.begin + blockIdx.x * threads + threadIdx.x;
  if (number >= half.end) return;
  const Cell cell = cells[number];
  const Word odd = sites.odd(half.colour, cell);
  Around<Real> around;
  around.load(sites, half.colour, cell, odd);
  Real* const own = sites.of_replica(half.colour, cell.replica) + sites.index(cell);
  store(own, sites.elements,
        updated<update>(sites, cell, odd, half.sweep, load(own, sites.elements), around.field()));
}

template <class Real>
__global__ void __launch_bounds__(threads) sums_kernel(const __grid_constant__ Sites<Real> sites,
                                                       const __grid_constant__ Cells cells, Sums* partial) {
  const Sums of_block = over_block(share_of_bonds(sites, cells), sites.tempered);
  if (threadIdx.x == 0) partial[blockIdx.x] = of_block;
}

__global__ void __launch_bounds__(blocks_of_sums)
    total_kernel(const Sums* partial, Word count, Word tempered, Sums* total) {
  const Sums sums = over_block(threadIdx.x < count ? partial[threadIdx.x] : Sums(), tempered);
  if (threadIdx.x == 0) *total = sums;
}

}  // namespace

template <class Real>
cudaError_t launch_half_sweep(Update update, const Sites<Real>& sites, const Cells& cells,
                              const HalfSweep& half, cudaStream_t stream) {
  if (half.begin == half.end) return cudaSuccess;
  const unsigned blocks = blocks_for(half.end - half.begin);
  if (update == Update::heat_bath)
    half_sweep_kernel<Update::heat_bath><<<blocks, threads, 0, stream>>>(sites, cells, half);
  else
    half_sweep_kernel<Update::over_relaxation><<<blocks, threads, 0, stream>>>(sites, cells, half);
  return cudaGetLastError();
}

template <class Real>
cudaError_t launch_sums(const Sites<Real>& sites, const Cells& cells, Sums* partial, Sums* total,
                        cudaStream_t stream) {
  const unsigned blocks = std::min(blocks_for(cells.all), blocks_of_sums);
  sums_kernel<<<blocks, threads, 0, stream>>>(sites, cells, partial);
  total_kernel<<<1, blocks_of_sums, 0, stream>>>(partial, blocks, sites.tempered, total);
  return cudaGetLastError();
}

template cudaError_t launch_half_sweep(Update, const Sites<float>&, const Cells&, const HalfSweep&,
                                       cudaStream_t);
template cudaError_t launch_half_sweep(Update, const Sites<double>&, const Cells&, const HalfSweep&,
                                       cudaStream_t);
template cudaError_t launch_sums(const Sites<float>&, const Cells&, Sums*, Sums*, cudaStream_t);
template cudaError_t launch_sums(const Sites<double>&, const Cells&, Sums*, Sums*, cudaStream_t);

}  // namespace tca::spin
