// The base of OpenTCA's own contenders, which start their steps as a Way says.
#pragma once

#include <optional>
#include <utility>

#include "gpu/call.hpp"

namespace tca::bench::gpu {

// Runs steps as its Way says. `Kind` is the kind of contender.
template <class Kind>
class Started : public Kind {
 public:
  template <class... Args>
  explicit Started(const Way& way, Args&&... args) : Kind(std::forward<Args>(args)...) {
    this->fabric = way.fabric;
    this->guarded = way.guarded;
    this->start = way.start;
    if (way.start == "kernel") this->scope = way.scope;
    if (way.start == "graph") this->granule = steps_a_graph;
  }

  void run(int steps, Stream stream) final {
    if (idle()) return;
    const std::uint32_t first = this->steps_done;
    this->steps_done += static_cast<std::uint32_t>(steps);
    if (this->start == "kernel") {
      in_kernel(first, steps, stream);
      cuda_ok(cudaGetLastError(), "launching a kernel that runs a chain");
    } else if (this->start == "graph") {
      if (!graph_) graph_.emplace([this](cudaStream_t capturing) { on_stream(capturing); });
      graph_->run(steps, stream);
    } else {
      for (int i = 0; i < steps; ++i) this->start == "host" ? on_stream(stream) : by_engine(stream);
    }
  }

 protected:
  virtual bool idle() const { return false; }  // whether this rank has no part
  // The kernel writes and reads by itself; `first` is the number of its first step.
  virtual void in_kernel(std::uint32_t /*first*/, int /*steps*/, cudaStream_t) { refuse(); }
  virtual void on_stream(cudaStream_t stream) = 0;               // one step
  virtual void by_engine(cudaStream_t /*stream*/) { refuse(); }  // one step, for which the host waits

 private:
  void refuse() const { throw Error(Errc::invalid_argument, "nothing here is started by " + this->start); }

  std::optional<Graph> graph_;
};

}  // namespace tca::bench::gpu
