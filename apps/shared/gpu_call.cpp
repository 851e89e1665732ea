#include "shared/gpu_call.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tca/error.hpp"

namespace tca::apps {

void cuda_ok(cudaError_t result, std::string_view what) {
  if (result == cudaSuccess) return;
  const Errc code = result == cudaErrorMemoryAllocation ? Errc::out_of_memory : Errc::device_failed;
  throw Error(
      code, fmt::format("{}: CUDA says {} ({})", what, cudaGetErrorString(result), cudaGetErrorName(result)));
}

CapturedGraph::CapturedGraph(cudaStream_t stream, const std::function<void()>& enqueue,
                             unsigned long long flags) {
  cudaGraph_t graph = nullptr;
  // Thread-local mode, because other ranks may be threads of this process with CUDA calls of their own.
  cuda_ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a graph");
  try {
    enqueue();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    cudaGraphDestroy(graph);
    throw;
  }
  cuda_ok(cudaStreamEndCapture(stream, &graph), "capturing a graph");
  const cudaError_t result = cudaGraphInstantiate(&graph_, graph, flags);
  cudaGraphDestroy(graph);
  cuda_ok(result, "making a graph");
  cuda_ok(cudaGraphUpload(graph_, stream), "uploading a graph");
  cuda_ok(cudaStreamSynchronize(stream), "uploading a graph");
}

namespace {

// Returns whether ranks are threads of this process and have no GPU each.
bool threads_share_a_gpu(World& world) {
  const pid_t mine = getpid();
  const std::vector<pid_t> all = world.all_gather(mine);
  return world.ranks_share_devices() && std::count(all.begin(), all.end(), mine) > 1;
}

}  // namespace

Graph::Graph(World& world, cudaStream_t stream, std::function<void()> enqueue)
    : stream_(stream), enqueue_(std::move(enqueue)) {
  if (threads_share_a_gpu(world)) return;
  captured_.emplace(stream_, enqueue_);
  world.barrier();
}

void Graph::launch() const {
  if (!captured_) return enqueue_();
  captured_->launch(stream_);
}

}  // namespace tca::apps
