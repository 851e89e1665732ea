// One kernel runs the whole benchmark: see tile_solver.hpp.
#include "cg/gpu/block.cuh"
#include "cg/gpu/kernels.hpp"
#include "tca/chain.cuh"

namespace tca::cg {

namespace {

// For what kernels with chains have in shared memory besides.
constexpr std::size_t reserved_bytes = 256;

class Block {
 public:
  static constexpr bool chains = false;

  __device__ Block(const Run& run, const Tile& tile)
      : slices_(run.matrix.slices + tile.first_slice),
        row_of_(run.matrix.row_of + std::uint64_t{tile.first_slice} * run.matrix.tiling.slice_rows()) {
    if (run.room.slices != Room::nowhere) slices_ = kept<Slice>(run.room.slices, slices_, tile.slices);
    if (run.room.row_of != Room::nowhere)
      row_of_ = kept<Word>(run.room.row_of, row_of_, tile.slices * run.matrix.tiling.slice_rows());
    const Word elements = min(run.room.kept_steps, tile.steps) * step_elements;
    const std::uint64_t first = tile.first_step * step_elements;
    kept<double>(run.room.value, run.matrix.value + first, elements);
    kept<std::uint16_t>(run.room.column, run.matrix.column + first, elements);
  }

  __device__ Word lane() const { return threadIdx.x; }
  __device__ Word lanes() const { return tile_threads; }
  __device__ void sync() const { __syncthreads(); }
  __device__ bool all(bool good) const { return __syncthreads_and(good) != 0; }

  template <Word count>
  __device__ bool add_up(double (&values)[count], bool good, Word lanes) {
    turn_ = 1 - turn_;
    return add_up_block(values, good, lanes, between_warps(turn_));
  }

  // Every other product goes backwards, so that it begins with what the one before has read last, and what is
  // still in the L2 when not all of the matrix fits there.
  __device__ void multiply(const Run& run, const Tile& tile, Word product, double* out) const {
    __syncthreads();
    const Tiling& tiling = run.matrix.tiling;
    for (Word turn = threadIdx.x / step_elements; turn < tile.slices; turn += tile_warps) {
      const Word at = product % 2 == 0 ? turn : tile.slices - 1 - turn;
      const Slice slice = slices_[at];
      const double sum = slice.first + slice.width <= run.room.kept_steps
                             ? share_of_kept_slice(run.room, slice)
                             : share_of_slice(run.matrix, tile.first_step + slice.first, slice.width);
      store_rows(sum, tiling, row_of_ + at * tiling.slice_rows(), out);
    }
  }

 private:
  static __device__ std::byte* shared() { return reinterpret_cast<std::byte*>(shared_operand()); }

  // Apart from the template, of which there are several.
  static __device__ double (*between_warps(int turn))[tile_warps] {
    __shared__ double values[2][most_sums][tile_warps];
    return values[turn];
  }

  // Copies an array into shared memory, where it stays.
  template <class T>
  static __device__ const T* kept(Word place, const T* from, Word size) {
    T* const to = reinterpret_cast<T*>(shared() + place);
    for (Word i = threadIdx.x; i < size; i += tile_threads) to[i] = from[i];
    return to;
  }

  static __device__ double share_of_kept_slice(const Room& room, Slice slice) {
    constexpr Word in_flight = 4;
    const Word begin = slice.first * step_elements + threadIdx.x % step_elements;
    const double* const value = reinterpret_cast<const double*>(shared() + room.value) + begin;
    const std::uint16_t* const column =
        reinterpret_cast<const std::uint16_t*>(shared() + room.column) + begin;
    return share_of_slice<in_flight>(slice.width, value, column, [](const auto* from) { return *from; });
  }

  const Slice* slices_;
  const Word* row_of_;
  int turn_ = 0;
};

// A block of a rank that has a block of the matrix.
class ChainedBlock : public Block {
 public:
  static constexpr bool chains = true;

  __device__ ChainedBlock(const Run& run, const Tile& tile, const BlockChains& exchange)
      : Block(run, tile), exchange_(exchange) {}

  __device__ bool barrier(bool good) const { return device::grid_barrier(exchange_.barrier, good); }

  // A start is a barrier of the grid, behind which all that has been added up is sent. Out of line, because a
  // chain's code is long.
  __device__ __noinline__ bool exchange(const Run& run) const {
    bool good = true;
    for (Word which = 0; which <= exchange_.reductions; ++which) {
      GridChain chain(exchange_.chains[which]);
      chain.start();
      good = chain.wait() && good;
      if (which == exchange_.reductions) break;
      const auto& [received, begin, size] = exchange_.of[which];
      double* const sums = run.product + begin;
      for (Word i = blockIdx.x * tile_threads + threadIdx.x; i < size; i += gridDim.x * tile_threads)
        sums[i] = __ldcg(sums + i) + __ldcg(received + i);
    }
    return good;
  }

 private:
  const BlockChains& exchange_;
};

__global__ void __launch_bounds__(tile_threads, 1)
    blocks_run_kernel(const __grid_constant__ Run run, const __grid_constant__ BlockChains chains) {
  ChainedBlock block(run, run.matrix.tiles[blockIdx.x], chains);
  const TileVectors vectors =
      TileVectors::of(run, blockIdx.x, reinterpret_cast<std::byte*>(shared_operand()));
  TileSolver<ChainedBlock>(run, vectors, blockIdx.x, block).solve();
}

// The maximum and not what a rank needs: ranks that are threads share the setting.
template <class Kernel>
cudaError_t allow_shared_bytes(Kernel kernel, std::size_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

__global__ void __launch_bounds__(tile_threads, 1) run_kernel(const __grid_constant__ Run run) {
  Block block(run, run.matrix.tiles[blockIdx.x]);
  const TileVectors vectors =
      TileVectors::of(run, blockIdx.x, reinterpret_cast<std::byte*>(shared_operand()));
  TileSolver<Block>(run, vectors, blockIdx.x, block).solve();
}

}  // namespace

cudaError_t blocks_at_once(unsigned ranks, unsigned& blocks, std::size_t& shared_bytes) {
  int device = 0, multiprocessors = 0, bytes = 0;
  cudaFuncAttributes kernel{};
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (result == cudaSuccess) result = cudaFuncGetAttributes(&kernel, run_kernel);
  if (result != cudaSuccess) return result;
  blocks = static_cast<unsigned>(multiprocessors) / ranks;
  shared_bytes = static_cast<std::size_t>(bytes) - kernel.sharedSizeBytes;
  shared_bytes -= reserved_bytes;
  result = allow_shared_bytes(run_kernel, shared_bytes);
  return result == cudaSuccess ? allow_shared_bytes(blocks_run_kernel, shared_bytes) : result;
}

cudaError_t launch_run(const Run& run, cudaStream_t stream) {
  void* arguments[] = {const_cast<Run*>(&run)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(run_kernel), dim3(run.matrix.tiling.tiles()),
                                     dim3(tile_threads), arguments, run.room.bytes, stream);
}

cudaError_t launch_blocks_run(const Run& run, const BlockChains& chains, cudaStream_t stream) {
  void* arguments[] = {const_cast<Run*>(&run), const_cast<BlockChains*>(&chains)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(blocks_run_kernel),
                                     dim3(run.matrix.tiling.tiles()), dim3(tile_threads), arguments,
                                     run.room.bytes, stream);
}

}  // namespace tca::cg
