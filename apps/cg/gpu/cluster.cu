// One cluster of blocks on each GPU runs the whole benchmark: see iteration.hpp and cluster_blocks.hpp.
#include "cg/gpu/block.cuh"
#include "cg/gpu/cluster_blocks.hpp"
#include "cg/gpu/kernels.hpp"

namespace tca::cg {

namespace {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900

class ClusterBlock : public Block {
 public:
  __device__ ClusterBlock(const Run& run, const Tile& tile) : Block(run, tile) {
    if (threadIdx.x != 0) return;
    for (const Word turn : {0, 1})
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(come(turn))) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }

  // More elements at once than where a block has many rows: the longest few are all that a product waits for.
  __device__ void multiply(const Run& run, const Tile& tile, Word product, double* out) const {
    Block::multiply<8>(run, tile, product, out);
  }

  // The target's barrier counts the bytes, and whoever waits for it sees them.
  __device__ void store(Word block, double* here, double value) const {
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(
                     in(block, here)),
                 "l"(__double_as_longlong(value)), "r"(in(block, come(waits_ % 2)))
                 : "memory");
  }
  // Two barriers take turns, since a block may be a wait ahead of another, but not two.
  __device__ void wait(Word bytes) {
    const Word barrier = address(come(waits_ % 2)), phase = waits_ / 2 % 2;
    if (threadIdx.x == 0)
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                   : "memory");
    Word is_over;
    do {
      asm volatile(
          "{\n\t.reg .pred over;\n\t"
          "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 over, [%1], %2;\n\t"
          "selp.u32 %0, 1, 0, over;\n\t}"
          : "=r"(is_over)
          : "r"(barrier), "r"(phase)
          : "memory");
    } while (is_over == 0);
    ++waits_;
  }
  __device__ void meet() const {
    __syncwarp();
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::
                     : "memory");
  }

  __device__ Word warp() const { return threadIdx.x / step_elements; }
  __device__ Word warp_lane() const { return threadIdx.x % step_elements; }
  __device__ Word warp_lanes() const { return step_elements; }
  template <Word count>
  __device__ void add_up_warp(double (&values)[count]) const {
    const double total = cg::add_up_warp(values, warp_lane());
#pragma unroll
    for (Word v = 0; v < count; ++v) values[v] = __shfl_sync(~0u, total, v * (step_elements / count));
  }
  __device__ bool all_of_warp(bool good) const { return __all_sync(~0u, good) != 0; }

 private:
  static __device__ std::uint64_t* come(Word turn) {
    __shared__ std::uint64_t barriers[2];
    return barriers + turn;
  }
  template <class T>
  static __device__ Word address(T* here) {
    return static_cast<Word>(__cvta_generic_to_shared(here));
  }
  template <class T>
  static __device__ Word in(Word block, T* here) {
    Word there;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address(here)), "r"(block));
    return there;
  }

  Word waits_ = 0;
};

#endif

__global__ void __launch_bounds__(tile_threads, 1) cluster_kernel(const __grid_constant__ ClusterRun run) {
#if __CUDA_ARCH__ >= 900
  std::byte* const shared = reinterpret_cast<std::byte*>(shared_operand());
  ClusterBlock block(run, run.matrix.tiles[blockIdx.x]);
  ClusterBlocks<ClusterBlock> blocks(run, shared, blockIdx.x, block);
  blocks.begin();
  Iteration<ClusterBlocks<ClusterBlock>>(run, TileVectors::of(run, blockIdx.x, shared), blocks).solve();
  blocks.end();
#endif
}

// A launch of one cluster.
struct ClusterLaunch {
  ClusterLaunch(Word blocks, std::size_t shared_bytes, cudaStream_t stream) {
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim.x = blocks;
    size.val.clusterDim.y = size.val.clusterDim.z = 1;
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(tile_threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &size;
    config.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;

  cudaLaunchAttribute size{};
  cudaLaunchConfig_t config{};
};

// Whether the GPU and the code for it have clusters.
cudaError_t find_clusters(int device, const cudaFuncAttributes& kernel, bool& has_clusters) {
  int launches = 0;
  const cudaError_t result = cudaDeviceGetAttribute(&launches, cudaDevAttrClusterLaunch, device);
  has_clusters = launches != 0 && kernel.ptxVersion >= 90;
  return result;
}

}  // namespace

cudaError_t cluster_at_once(unsigned ranks, unsigned& blocks, std::size_t& shared_bytes) {
  blocks = 0;
  int device = 0, bytes = 0;
  bool has_clusters = false;
  cudaFuncAttributes kernel{};
  cudaError_t result = cudaGetDevice(&device);
  if (result == cudaSuccess) result = cudaFuncGetAttributes(&kernel, cluster_kernel);
  if (result == cudaSuccess)
    result = cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (result == cudaSuccess) result = find_clusters(device, kernel, has_clusters);
  if (result != cudaSuccess || !has_clusters) return result;
  shared_bytes = static_cast<std::size_t>(bytes) - kernel.sharedSizeBytes;
  result = cudaFuncSetAttribute(cluster_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(shared_bytes));
  if (result != cudaSuccess) return result;
  // Clusters of 16 are more than CUDA promises to any GPU. One that has none takes 8.
  if (cudaFuncSetAttribute(cluster_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1) != cudaSuccess)
    cudaGetLastError();
  for (const unsigned size : {16U, 8U}) {
    const ClusterLaunch launch(size, shared_bytes, nullptr);
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, cluster_kernel, &launch.config) != cudaSuccess) {
      cudaGetLastError();
    } else if (static_cast<unsigned>(clusters) >= ranks) {
      blocks = size;
      break;
    }
  }
  return cudaSuccess;
}

cudaError_t launch_cluster_run(const ClusterRun& run, cudaStream_t stream) {
  const ClusterLaunch launch(run.blocks, run.room.bytes + run.meeting_words() * sizeof(double), stream);
  return cudaLaunchKernelEx(&launch.config, cluster_kernel, run);
}

}  // namespace tca::cg
