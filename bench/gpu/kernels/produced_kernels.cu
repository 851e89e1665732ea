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

// Writes a block's own elements of a step, into the memory that the piece is in and into the put.
__device__ void produce(ProducedBlockChain& running, const DeviceProducedPut<Words>& put,
                        const WordsOf& piece, std::uint32_t step) {
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

// Reads a block's own elements, into the memory that the piece is in.
__device__ void use(ProducedBlockChain& running, const DeviceProducedArrival<Words>& arrival,
                    const WordsOf& piece) {
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
      produce(running, sides.sent[side], WordsOf(touched.sent[side], touched.rows), step);
    for (int side = 0; side < 2; ++side)
      use(running, sides.arrived[side], WordsOf(touched.arrived[side], touched.rows));
    running.wait();
  }
}

// Rank 1 answers with the values of the next step.
template <bool serves>
__global__ void __launch_bounds__(256, 1)
    produced_ping_pong_kernel(const __grid_constant__ DeviceProducedChain chain,
                              const __grid_constant__ DeviceProducedPut<Words> sent,
                              const __grid_constant__ DeviceProducedArrival<Words> arrived,
                              const __grid_constant__ Touched touched, std::uint32_t first, int steps) {
  ProducedBlockChain running(chain);
  const WordsOf out(touched.sent[0], touched.rows), in(touched.arrived[0], touched.rows);
  const std::uint32_t end = first + static_cast<std::uint32_t>(steps);
  for (std::uint32_t step = first; step < end && running.good(); ++step) {
    running.start();
    if (!serves) use(running, arrived, in);
    produce(running, sent, out, step + (serves ? 0 : 1));
    if (serves) use(running, arrived, in);
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

cudaError_t run_produced_ping_pong(const DeviceProducedChain& chain, const DeviceProducedPut<Words>& sent,
                                   const DeviceProducedArrival<Words>& arrived, const Touched& touched,
                                   bool serves, std::uint32_t first, int steps, Grid grid,
                                   cudaStream_t stream) {
  return launch_together(serves ? produced_ping_pong_kernel<true> : produced_ping_pong_kernel<false>, grid,
                         stream, chain, sent, arrived, touched, first, steps);
}

cudaError_t run_packed(const DeviceChain& chain, std::uint32_t* out, std::uint32_t* in,
                       const Touched& touched, std::uint32_t first, int steps, Grid grid,
                       cudaStream_t stream) {
  return launch_together(packed_kernel, grid, stream, chain, out, in, touched, first, steps);
}

}  // namespace tca::bench::gpu
