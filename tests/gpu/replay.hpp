// Graphs of steps for tests, also where ranks share a GPU.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "cuda_ok.hpp"

namespace tca::test {

// Returns whether ranks that are threads share a GPU. If so, no launch may queue behind a kernel that waits
// for another rank. The fabric ensures that for its own launches; a test synchronises its launches ("Where
// ranks share a GPU" in docs/gpu.md). Collective.
inline bool threads_share_a_gpu(World& world) {
  const std::vector<pid_t> processes = world.all_gather(getpid());
  return world.ranks_share_devices() && std::count(processes.begin(), processes.end(), getpid()) > 1;
}

// Steps as graphs: all in one, or one per graph where ranks share a GPU. All are made at once, since no graph
// can be made on a GPU while another rank's kernel waits there for this rank.
class Replay {
 public:
  template <class Enqueue>  // puts step i on the stream
  Replay(World& world, cudaStream_t stream, int steps, const Enqueue& enqueue)
      : stream_(stream), shared_(threads_share_a_gpu(world)) {
    const int steps_a_graph = shared_ ? 1 : steps;
    for (int first = 0; first < steps; first += steps_a_graph) {
      cudaGraph_t graph;
      ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
      for (int i = first; i < first + steps_a_graph; ++i) enqueue(i);
      ok(cudaStreamEndCapture(stream, &graph));
      ok(cudaGraphInstantiate(&graphs_.emplace_back(), graph, 0));
      ok(cudaGraphDestroy(graph));
    }
    world.barrier();
  }
  Replay(const Replay&) = delete;
  ~Replay() {
    for (cudaGraphExec_t graph : graphs_) cudaGraphExecDestroy(graph);
  }

  void launch() const {
    for (cudaGraphExec_t graph : graphs_) {
      ok(cudaGraphLaunch(graph, stream_));
      if (shared_) ok(cudaStreamSynchronize(stream_));
    }
  }

 private:
  cudaStream_t stream_;
  bool shared_;
  std::vector<cudaGraphExec_t> graphs_;
};

}  // namespace tca::test
