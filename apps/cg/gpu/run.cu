// A grid of blocks runs the whole benchmark: see iteration.hpp and grid_blocks.hpp.
#include "cg/gpu/block.cuh"
#include "cg/gpu/kernels.hpp"
#include "tca/chain.cuh"

namespace tca::cg {

namespace {

// For what kernels with chains have in shared memory besides.
constexpr std::size_t reserved_bytes = 256;

// A block of a rank that has a block of the matrix.
class ChainedBlock : public Block {
 public:
  static constexpr bool chains = true;

  __device__ ChainedBlock(const GridRun& run, const Tile& tile, const BlockChains& exchange)
      : Block(run, tile), exchange_(exchange) {}

  __device__ bool barrier(bool good) const { return device::grid_barrier(exchange_.barrier, good); }

  // A start is a barrier of the grid, behind which all that has been added up is sent. Out of line, because a
  // chain's code is long.
  __device__ __noinline__ bool exchange(const GridRun& run) const {
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
    blocks_run_kernel(const __grid_constant__ GridRun run, const __grid_constant__ BlockChains chains) {
  ChainedBlock block(run, run.matrix.tiles[blockIdx.x], chains);
  const TileVectors vectors =
      TileVectors::of(run, blockIdx.x, reinterpret_cast<std::byte*>(shared_operand()));
  GridBlocks<ChainedBlock> blocks(run, blockIdx.x, block);
  Iteration<GridBlocks<ChainedBlock>>(run, vectors, blocks).solve();
}

// The maximum and not what a rank needs: ranks that are threads share the setting.
template <class Kernel>
cudaError_t allow_shared_bytes(Kernel kernel, std::size_t bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

__global__ void __launch_bounds__(tile_threads, 1) run_kernel(const __grid_constant__ GridRun run) {
  Block block(run, run.matrix.tiles[blockIdx.x]);
  const TileVectors vectors =
      TileVectors::of(run, blockIdx.x, reinterpret_cast<std::byte*>(shared_operand()));
  GridBlocks<Block> blocks(run, blockIdx.x, block);
  Iteration<GridBlocks<Block>>(run, vectors, blocks).solve();
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

cudaError_t launch_run(const GridRun& run, cudaStream_t stream) {
  void* arguments[] = {const_cast<GridRun*>(&run)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(run_kernel), dim3(run.matrix.tiling.tiles()),
                                     dim3(tile_threads), arguments, run.room.bytes, stream);
}

cudaError_t launch_blocks_run(const GridRun& run, const BlockChains& chains, cudaStream_t stream) {
  void* arguments[] = {const_cast<GridRun*>(&run), const_cast<BlockChains*>(&chains)};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void*>(blocks_run_kernel),
                                     dim3(run.matrix.tiling.tiles()), dim3(tile_threads), arguments,
                                     run.room.bytes, stream);
}

}  // namespace tca::cg
