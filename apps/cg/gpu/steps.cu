// The kernels of a step that a graph or the host starts one by one.
#include "cg/gpu/block.cuh"
#include "cg/gpu/kernels.hpp"
#include "tca/launch.cuh"

namespace tca::cg {

namespace {

constexpr unsigned threads = tile_threads;
// More would only take the last one longer to add up.
constexpr unsigned most_blocks = 132;

__global__ void __launch_bounds__(threads)
    multiply_kernel(const __grid_constant__ TileArrays matrix, const double* operand, double* products,
                    Word rows) {
  wait_for_previous_kernel();
  const Tile tile = matrix.tiles[blockIdx.x];
  const Tiling& tiling = matrix.tiling;
  for (Word c = threadIdx.x; c < tile.columns; c += threads)
    shared_operand()[c] = operand[tile.column_begin + c];
  __syncthreads();
  double* const out = products + std::uint64_t{blockIdx.x % tiling.column_parts} * rows + tile.row_begin;
  for (Word turn = threadIdx.x / step_elements; turn < tile.slices; turn += tile_warps) {
    const Word slice = tile.first_slice + turn;
    const auto [first, width] = matrix.slices[slice];
    store_rows(share_of_slice(matrix, tile.first_step + first, width), tiling,
               matrix.row_of + std::uint64_t{slice} * tiling.slice_rows(), out);
  }
}

__global__ void __launch_bounds__(threads)
    combine_kernel(const double* products, Word parts, double* product, Word rows) {
  wait_for_previous_kernel();
  for (Word i = blockIdx.x * threads + threadIdx.x; i < rows; i += gridDim.x * threads) {
    double sum = 0;
#pragma unroll 4
    for (Word part = 0; part < parts; ++part) sum += products[std::uint64_t{part} * rows + i];
    product[i] = sum;
  }
}

__global__ void __launch_bounds__(threads) accumulate_kernel(double* sums, const double* received, Word n) {
  wait_for_previous_kernel();
  for (Word i = blockIdx.x * threads + threadIdx.x; i < n; i += gridDim.x * threads) sums[i] += received[i];
}

// Calls act(i, sums) for each of the rank's elements. The last block to come adds up the sums of all, in
// their order, and calls finish(sums) by one thread: all others have done their elements by then.
template <Word count, class Act, class Finish>
__device__ void for_elements(const OwnVectors& v, const Act& act, const Finish& finish) {
  __shared__ double between_warps[2][count][tile_warps];
  __shared__ bool is_last;
  double sums[count] = {};
  for (Word i = blockIdx.x * threads + threadIdx.x; i < v.n; i += gridDim.x * threads) act(i, sums);
  add_up_block(sums, true, threads, between_warps[0]);
  if (threadIdx.x == 0) {
    for (Word k = 0; k < count; ++k) v.partial[k * gridDim.x + blockIdx.x] = sums[k];
    is_last = device::count_up(v.count, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  for (Word k = 0; k < count; ++k)
    sums[k] = threadIdx.x < gridDim.x ? __ldcg(v.partial + k * gridDim.x + threadIdx.x) : 0;
  add_up_block(sums, true, threads, between_warps[1]);
  if (threadIdx.x == 0) finish(sums);
}

__global__ void __launch_bounds__(threads) begin_kernel(const __grid_constant__ OwnVectors v) {
  wait_for_previous_kernel();
  for_elements<1>(
      v,
      [&](Word i, double(&sums)[1]) {
        const double x = v.x[i];
        v.z[i] = 0;
        v.r[i] = v.p[i] = x;
        sums[0] += x * x;
      },
      [&](const double(&sums)[1]) { v.scalars->rho = sums[0]; });
}

template <Word count>
__global__ void __launch_bounds__(threads) dots_kernel(const __grid_constant__ OwnVectors v) {
  wait_for_previous_kernel();
  for_elements<count>(
      v,
      [&](Word i, double(&sums)[count]) {
        const double p = v.p[i], q = v.q[i];
        sums[0] += p * q;
        if constexpr (count == 4) {
          const double r = v.r[i];
          sums[1] += r * q;
          sums[2] += q * q;
          sums[3] += r * r;
        }
      },
      [&](const double(&sums)[count]) {
        for (Word k = 0; k < count; ++k) v.scalars->dots[k] = sums[k];
      });
}

__global__ void __launch_bounds__(threads) advance_kernel(const __grid_constant__ OwnVectors v) {
  wait_for_previous_kernel();
  const double alpha = v.scalars->rho / v.scalars->dots[0];
  for_elements<1>(
      v,
      [&](Word i, double(&sums)[1]) {
        v.z[i] += alpha * v.p[i];
        const double r = v.r[i] - alpha * v.q[i];
        v.r[i] = r;
        sums[0] += r * r;
      },
      [&](const double(&sums)[1]) { v.scalars->squares = sums[0]; });
}

__global__ void __launch_bounds__(threads) turn_kernel(const __grid_constant__ OwnVectors v) {
  wait_for_previous_kernel();
  const double squares = v.scalars->squares, beta = squares / v.scalars->rho;
  for_elements<1>(
      v, [&](Word i, double(&)[1]) { v.p[i] = v.r[i] + beta * v.p[i]; },
      [&](const double(&)[1]) { v.scalars->rho = squares; });
}

__global__ void __launch_bounds__(threads) advance_and_turn_kernel(const __grid_constant__ OwnVectors v) {
  wait_for_previous_kernel();
  const auto& [pq, rq, qq, rr] = v.scalars->dots;
  const double alpha = rr / pq, beta = (rr - 2 * alpha * rq + alpha * alpha * qq) / rr;
  for (Word i = blockIdx.x * threads + threadIdx.x; i < v.n; i += gridDim.x * threads) {
    const double p = v.p[i], r = v.r[i] - alpha * v.q[i];
    v.z[i] += alpha * p;
    v.r[i] = r;
    v.p[i] = r + beta * p;
  }
}

__global__ void __launch_bounds__(threads) end_kernel(const __grid_constant__ OwnVectors v) {
  wait_for_previous_kernel();
  for_elements<2>(
      v,
      [&](Word i, double(&sums)[2]) {
        const double z = v.z[i];
        v.p[i] = z;
        sums[0] += v.x[i] * z;
        sums[1] += z * z;
      },
      [&](const double(&sums)[2]) {
        v.scalars->ends[0] = sums[0];
        v.scalars->ends[1] = sums[1];
      });
}

__global__ void __launch_bounds__(threads) scale_kernel(const __grid_constant__ OwnVectors v) {
  wait_for_previous_kernel();
  const double scale = 1 / sqrt(v.scalars->ends[1]);
  for_elements<1>(
      v,
      [&](Word i, double(&sums)[1]) {
        const double d = v.x[i] - v.q[i];
        sums[0] += d * d;
        v.x[i] = scale * v.z[i];
      },
      [&](const double(&sums)[1]) { v.scalars->left = sums[0]; });
}

__global__ void keep_kernel(const Scalars* scalars, Found* found, Word* steps) {
  wait_for_previous_kernel();
  found[(*steps)++] = {scalars->ends[0], scalars->left};
}

// A vector's kernels are early ones: see tca/launch.cuh.
template <class... Parameters, class... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), unsigned blocks, cudaStream_t stream,
                   const Arguments&... arguments) {
  return launch_kernel(kernel, {.blocks = dim3(blocks), .threads = dim3(threads), .early = false}, stream,
                       arguments...);
}

}  // namespace

unsigned blocks_for(Word n) {
  const unsigned blocks = (n + threads - 1) / threads;
  return blocks == 0 ? 1 : blocks < most_blocks ? blocks : most_blocks;
}

cudaError_t prepare_multiply(std::size_t shared_bytes) {
  return cudaFuncSetAttribute(multiply_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(shared_bytes));
}

cudaError_t launch_multiply(const TileArrays& matrix, Word most_columns, const double* operand,
                            double* products, Word rows, cudaStream_t stream) {
  return launch_kernel(multiply_kernel,
                       {.blocks = dim3(matrix.tiling.tiles()),
                        .threads = dim3(threads),
                        .shared_bytes = most_columns * sizeof(double),
                        .early = false},
                       stream, matrix, operand, products, rows);
}

cudaError_t launch_combine(const double* products, Word parts, double* product, Word rows,
                           cudaStream_t stream) {
  return launch(combine_kernel, blocks_for(rows), stream, products, parts, product, rows);
}
cudaError_t launch_accumulate(double* sums, const double* received, Word n, cudaStream_t stream) {
  return launch(accumulate_kernel, blocks_for(n), stream, sums, received, n);
}

cudaError_t launch_begin(const OwnVectors& v, cudaStream_t stream) {
  return launch(begin_kernel, blocks_for(v.n), stream, v);
}
cudaError_t launch_dots(const OwnVectors& v, bool merged, cudaStream_t stream) {
  return launch(merged ? dots_kernel<4> : dots_kernel<1>, blocks_for(v.n), stream, v);
}
cudaError_t launch_advance(const OwnVectors& v, cudaStream_t stream) {
  return launch(advance_kernel, blocks_for(v.n), stream, v);
}
cudaError_t launch_turn(const OwnVectors& v, cudaStream_t stream) {
  return launch(turn_kernel, blocks_for(v.n), stream, v);
}
cudaError_t launch_advance_and_turn(const OwnVectors& v, cudaStream_t stream) {
  return launch(advance_and_turn_kernel, blocks_for(v.n), stream, v);
}
cudaError_t launch_end(const OwnVectors& v, cudaStream_t stream) {
  return launch(end_kernel, blocks_for(v.n), stream, v);
}
cudaError_t launch_scale(const OwnVectors& v, cudaStream_t stream) {
  return launch(scale_kernel, blocks_for(v.n), stream, v);
}
cudaError_t launch_keep(const OwnVectors& v, Found* found, Word* steps, cudaStream_t stream) {
  return launch_kernel(keep_kernel, {.blocks = dim3(1), .threads = dim3(1), .early = false}, stream,
                       static_cast<const Scalars*>(v.scalars), found, steps);
}

}  // namespace tca::cg
