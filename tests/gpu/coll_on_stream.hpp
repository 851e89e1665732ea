// Checks collectives on streams and in graphs against a plain computation.
#pragma once

#include "coll_check.hpp"
#include "cuda_ok.hpp"

namespace tca::test {

// A stream of a rank, and a graph of one collective.
class OnStream {
 public:
  OnStream() { ok(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  OnStream(const OnStream&) = delete;
  ~OnStream() {
    if (graph_ != nullptr) cudaGraphExecDestroy(graph_);
    cudaStreamDestroy(stream_);
  }

  void run(Collective& collective) const {
    collective.run(stream_);
    ok(cudaStreamSynchronize(stream_));
  }
  void start_and_wait(Collective& collective) const {
    collective.start(stream_);
    collective.wait(stream_);
    ok(cudaStreamSynchronize(stream_));
  }
  // Captures the collective at the first call and replays the graph at every call.
  void in_graph(Collective& collective) {
    if (graph_ == nullptr) {
      cudaGraph_t graph = nullptr;
      ok(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
      collective.run(stream_);
      ok(cudaStreamEndCapture(stream_, &graph));
      ok(cudaGraphInstantiate(&graph_, graph, 0));
      ok(cudaGraphDestroy(graph));
    }
    ok(cudaGraphLaunch(graph_, stream_));
    ok(cudaStreamSynchronize(stream_));
  }
  Stream stream() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
};

enum class By { host, test, stream, start_and_wait, graph, turns };

inline void check(World& world, CollCase test, By by) {
  OnStream on;
  int turn = 0;
  test.by_test = by == By::test;
  if (by == By::stream) test.run = [&](Collective& c) { on.run(c); };
  if (by == By::start_and_wait) test.run = [&](Collective& c) { on.start_and_wait(c); };
  if (by == By::graph) test.run = [&](Collective& c) { on.in_graph(c); };
  if (by == By::turns) {
    test.run = [&](Collective& c) {
      switch (turn++ % 4) {
        case 0:
          return on.run(c);
        case 1:
          return on.in_graph(c);
        case 2:
          return c.run();
        default:
          return on.start_and_wait(c);
      }
    };
  }
  try {
    check_collective(world, test);
  } catch (const Mismatch& error) {
    world.check();  // reports a wait that was given up, which also leaves wrong values
    throw named(test, error);
  }
  world.check();
}

}  // namespace tca::test
