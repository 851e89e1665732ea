// The base of contenders of NCCL whose steps are captured in a graph.
#pragma once

#include <optional>
#include <utility>

#include "gpu/call.hpp"
#include "gpu/peers/nccl_calls.hpp"

namespace tca::bench::gpu::nccl {

// Runs the steps as a graph, after a first step without one in which NCCL connects the ranks.
template <class Kind>
class InGraph : public Kind {
 public:
  template <class... Args>
  explicit InGraph(Args&&... args) : Kind(std::forward<Args>(args)...) {
    this->fabric = this->peer = peer_name;
    this->start = "graph";
    this->granule = steps_a_graph;
  }

  void run(int steps, Stream stream) final {
    if (!graph_) {
      ++this->steps_done;
      step(stream);
      finish(stream);
      graph_.emplace([this](cudaStream_t capturing) { step(capturing); });
    }
    this->steps_done += static_cast<std::uint32_t>(steps);
    graph_->run(steps, stream);
  }

 protected:
  virtual void step(cudaStream_t stream) = 0;

 private:
  std::optional<Graph> graph_;
};

}  // namespace tca::bench::gpu::nccl
