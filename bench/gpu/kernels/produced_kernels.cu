#include "gpu/kernels/produced_kernels.hpp"
#include "gpu/kernels/touch.cuh"
#include "tca/chain.cuh"
#include "tca/produced.cuh"

namespace tca::bench::gpu {

namespace {

// A piece in words, whose numbers fit 32 bits.
struct WordsOf {
  __device__ WordsOf(const Piece& piece, const Rows& rows)
      : at(reinterpret_cast<std::uint32_t*>(piece.at)),
        seed(piece.seed),
        row(static_cast<unsigned>(rows.row / 4)),
        pitch(static_cast<unsigned>(rows.pitch / 4)),
        count(static_cast<unsigned>(rows.rows) * row) {}
  __device__ std::uint32_t* place(unsigned word) const { return at + word / row * pitch + word % row; }

  std::uint32_t* at;
  std::uint32_t seed;
  unsigned row, pitch, count;
};

// Each thread sends the words that it writes into a piece itself.
__device__ void produce(const ProducedBlockChain& running, const DeviceProducedPut<Words>& put,
                        const Piece& to, const Rows& rows, std::uint32_t step) {
  const WordsOf piece(to, rows);
  running.for_own_elements(put, [&](unsigned i) {
    Words words{};
#pragma unroll
    for (unsigned k = 0; k < 3; ++k) {
      if (3 * i + k >= piece.count) break;
      words.v[k] = fresh_word(piece.seed, step, 3 * i + k);
      *piece.place(3 * i + k) = words.v[k];
    }
    running.write(put, i, words);
  });
}

__device__ void take(ProducedBlockChain& running, const DeviceProducedArrival<Words>& arrival,
                     const Piece& into, const Rows& rows) {
  const WordsOf piece(into, rows);
  running.for_own_elements(arrival, [&](unsigned i) {
    running.read_for(arrival, i, [&](const Words& words) {
#pragma unroll
      for (unsigned k = 0; k < 3; ++k)
        if (3 * i + k < piece.count) *piece.place(3 * i + k) = words.v[k];
    });
  });
}

__global__ void __launch_bounds__(256, 1)
    produced_kernel(const __grid_constant__ DeviceProducedChain chain,
                    const __grid_constant__ ProducedSides sides, const __grid_constant__ Touched touched,
                    std::uint32_t first, int steps) {
  ProducedBlockChain running(chain);
  const std::uint32_t end = first + static_cast<std::uint32_t>(steps);
  for (std::uint32_t step = first; step < end && running.good(); ++step) {
    running.start();
    for (int side = 0; side < 2; ++side)
      produce(running, sides.sent[side], touched.sent[side], touched.rows, step);
    for (int side = 0; side < 2; ++side)
      take(running, sides.arrived[side], touched.arrived[side], touched.rows);
    running.wait();
  }
}

// The answer has the values of the next step.
template <bool serves>
__global__ void __launch_bounds__(256, 1)
    produced_ping_pong_kernel(const __grid_constant__ DeviceProducedChain chain,
                              const __grid_constant__ ProducedEnds ends,
                              const __grid_constant__ Touched touched, std::uint32_t first, int steps) {
  ProducedBlockChain running(chain);
  const std::uint32_t end = first + static_cast<std::uint32_t>(steps);
  for (std::uint32_t step = first; step < end && running.good(); ++step) {
    running.start();
    if (serves) produce(running, ends.sent, touched.sent[0], touched.rows, step);
    take(running, ends.arrived, touched.arrived[0], touched.rows);
    if (!serves) produce(running, ends.sent, touched.sent[0], touched.rows, step + 1);
    running.wait();
  }
}

// Every thread packs what it has written, so that the barrier of the start is the only one between the two.
__global__ void __launch_bounds__(256, 1)
    packed_kernel(const __grid_constant__ DeviceChain chain, std::uint32_t* out, const std::uint32_t* in,
                  const __grid_constant__ Touched touched, std::uint32_t first, int steps) {
  GridChain running(chain);
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const std::uint32_t end = first + static_cast<std::uint32_t>(steps);
  for (std::uint32_t step = first; step < end && running.good(); ++step) {
    for (int side = 0; side < 2; ++side) {
      const WordsOf piece(touched.sent[side], touched.rows);
      for (unsigned w = thread; w < piece.count; w += threads)
        *piece.place(w) = out[side * piece.count + w] = fresh_word(piece.seed, step, w);
    }
    running.start();
    if (!running.wait()) break;
    for (int side = 0; side < 2; ++side) {
      const WordsOf piece(touched.arrived[side], touched.rows);
      for (unsigned w = thread; w < piece.count; w += threads)
        *piece.place(w) = __ldcg(in + side * piece.count + w);
    }
  }
}

template <class Kernel, class... Args>
cudaError_t launch_together(Kernel* kernel, Grid grid, cudaStream_t stream, Args... args) {
  void* arguments[] = {&args...};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), dim3(grid.blocks), dim3(grid.threads),
                                     arguments, 0, stream);
}

}  // namespace

cudaError_t run_produced(const DeviceProducedChain& chain, const ProducedSides& sides, const Touched& touched,
                         std::uint32_t first, int steps, Grid grid, cudaStream_t stream) {
  return launch_together(produced_kernel, grid, stream, chain, sides, touched, first, steps);
}

cudaError_t run_produced_ping_pong(const DeviceProducedChain& chain, const ProducedEnds& ends,
                                   const Touched& touched, bool serves, std::uint32_t first, int steps,
                                   Grid grid, cudaStream_t stream) {
  const auto kernel = serves ? produced_ping_pong_kernel<true> : produced_ping_pong_kernel<false>;
  return launch_together(kernel, grid, stream, chain, ends, touched, first, steps);
}

cudaError_t run_packed(const DeviceChain& chain, std::uint32_t* out, std::uint32_t* in,
                       const Touched& touched, std::uint32_t first, int steps, Grid grid,
                       cudaStream_t stream) {
  return launch_together(packed_kernel, grid, stream, chain, out, in, touched, first, steps);
}

}  // namespace tca::bench::gpu
