#include "fabric/cuda/launch/launch.hpp"
#include "fabric/cuda/post/post_kernels.hpp"
#include "tca/device/groups.cuh"

namespace tca::cuda {

namespace {

__global__ void __launch_bounds__(256) post_kernel(const __grid_constant__ device::Post post, Word ticket) {
  wait_for_previous_kernel();
  device::run_post(post, device::Block::of_grid(), ticket);
}

// A large post in three kernels, so that no block has to wait for another one.
__global__ void begin_kernel(const __grid_constant__ device::Post post) {
  wait_for_previous_kernel();
  const device::Block block = device::Block::of_grid();
  const bool may_store = device::begin_post(post, block);
  if (block.lane() == 0) *post.refused = may_store ? 0 : 1;
}

__global__ void __launch_bounds__(256) store_kernel(const __grid_constant__ device::Post post) {
  wait_for_previous_kernel();
  if (*post.refused != 0) return;
  device::store_post(post, device::Block::of_grid(), [] { return true; });
}

__global__ void end_kernel(const __grid_constant__ device::Post post, Word ticket) {
  wait_for_previous_kernel();
  device::end_post(post, device::Block::of_grid(), *post.refused == 0, ticket);
}

__global__ void notice_kernel(const __grid_constant__ device::NoticeWait wait,
                              const __grid_constant__ device::WaitLimits limits) {
  wait_for_previous_kernel();
  device::take_notice(wait, limits, device::Block::of_grid());
}

constexpr Grid one_warp{1, 32};

}  // namespace

void launch_post(const device::Post& post, Grid grid, Word ticket, cudaStream_t stream) {
  constexpr const char* what = "starting a post";
  if (grid.blocks == 1) {
    launch(what, post_kernel, grid, stream, post, ticket);
    return;
  }
  launch(what, begin_kernel, one_warp, stream, post);
  launch(what, store_kernel, grid, stream, post);
  launch(what, end_kernel, one_warp, stream, post, ticket);
}

void launch_notice_wait(const device::NoticeWait& wait, const device::WaitLimits& limits,
                        cudaStream_t stream) {
  launch("waiting for a notice", notice_kernel, one_warp, stream, wait, limits);
}

void load_post_kernels() {
  cudaFuncAttributes attributes{};
  for (const void* kernel :
       {reinterpret_cast<const void*>(post_kernel), reinterpret_cast<const void*>(begin_kernel),
        reinterpret_cast<const void*>(store_kernel), reinterpret_cast<const void*>(end_kernel),
        reinterpret_cast<const void*>(notice_kernel)}) {
    check(cudaFuncGetAttributes(&attributes, kernel), "loading OpenTCA's kernels of posts");
  }
}

}  // namespace tca::cuda
