// The kernels of posts.
#pragma once

#include "fabric/cuda/kernels.hpp"
#include "tca/device/posts.hpp"

namespace tca::cuda {

// Starts a post: in one kernel or, if `grid` has several blocks, in three, of which the middle one stores.
// `ticket` is what the post's report receives when everything is in place; 0 if nobody is told.
void launch_post(const device::Post& post, Grid grid, Word ticket, cudaStream_t stream);

// Waits for a notice and consumes it.
void launch_notice_wait(const device::NoticeWait& wait, const device::WaitLimits& limits,
                        cudaStream_t stream);

// See load_kernels.
void load_post_kernels();

}  // namespace tca::cuda
