// What a step takes on GPUs from C++, launched by the host and in a CUDA graph: tca run -n 2 -- graph_steps
// With --json rank 0 prints all batches, for bench/bindings/languages.py. gpu_steps.py
// there is the same in Python.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "tca/tca.hpp"

namespace {

constexpr int batches = 31, steps = 200;
constexpr std::int64_t cells = 256, pitch = cells + 2;  // along a side of what the halo is of

void check(cudaError_t result) {
  if (result == cudaSuccess) return;
  fmt::print(stderr, "graph_steps: CUDA says {}\n", cudaGetErrorString(result));
  std::exit(8);
}

// A chain's steps on a stream, timed there.
class Steps {
 public:
  Steps(tca::World& world, tca::Chain& chain, cudaStream_t stream)
      : world_(world), chain_(chain), stream_(stream) {
    check(cudaEventCreate(&begin_));
    check(cudaEventCreate(&end_));
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    launch();
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(stream, &captured));
    check(cudaGraphInstantiate(&graph_, captured, 0));
    check(cudaGraphDestroy(captured));
  }
  Steps(const Steps&) = delete;
  ~Steps() {
    cudaGraphExecDestroy(graph_);
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  // Returns microseconds a step. A batch that is not timed goes before: at its end the ranks are together, and
  // the timed one is on the stream, so that only what the host launches step by step has the launch in its time.
  double batch(bool by_graph) {
    check(cudaStreamSynchronize(stream_));
    world_.barrier();
    start(by_graph);
    check(cudaEventRecord(begin_, stream_));
    start(by_graph);
    check(cudaEventRecord(end_, stream_));
    check(cudaEventSynchronize(end_));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_));
    return 1e3 * milliseconds / steps;
  }

 private:
  void start(bool by_graph) { by_graph ? check(cudaGraphLaunch(graph_, stream_)) : launch(); }
  void launch() {
    for (int i = 0; i < steps; ++i) chain_.run(stream_);
  }

  tca::World& world_;
  tca::Chain& chain_;
  cudaStream_t stream_;
  cudaGraphExec_t graph_ = nullptr;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// The edges of a square go into the other rank's ghosts.
void put_edges(tca::Chain& halo, tca::Window<double>& u, int other) {
  const tca::Layout row = tca::block(cells), column = tca::stride(cells, pitch);
  const auto at = [](std::int64_t i, std::int64_t j) { return i * pitch + j; };
  halo.put(u.on(other).at(at(cells + 1, 1)), u.at(at(1, 1)), row);
  halo.put(u.on(other).at(at(0, 1)), u.at(at(cells, 1)), row);
  halo.put(u.on(other).at(at(1, cells + 1)), u.at(at(1, 1)), column);
  halo.put(u.on(other).at(at(1, 0)), u.at(at(1, cells)), column);
}

struct Times {
  std::string_view call, start;
  int bytes;
  std::vector<double> us = {};
};

void print(std::vector<Times>& all, bool as_json) {
  nlohmann::json lines = nlohmann::json::array();
  for (Times& times : all) {
    lines.push_back({{"call", times.call},
                     {"start", times.start},
                     {"bytes", times.bytes},
                     {"way", ""},
                     {"us", times.us}});
    std::ranges::sort(times.us);
    if (!as_json)
      fmt::print("{:5} c++ {:6} {:9.3f} us, least {:9.3f}\n", times.call, times.start,
                 times.us[times.us.size() / 2], times.us.front());
  }
  if (as_json) fmt::print("{}\n", nlohmann::json{{"compiler", "GCC " __VERSION__}, {"times", lines}}.dump());
}

int measure(bool as_json) {
  tca::World world = tca::World::init({.fabric = "cuda"});
  if (world.size() != 2) {
    fmt::print(stderr, "graph_steps: start it on two ranks, tca run -n 2 -- graph_steps\n");
    return 2;
  }
  const int other = 1 - world.rank();
  auto u = world.window<double>(pitch * pitch);
  tca::Chain small = world.chain("8 bytes"), halo = world.chain("halo");
  small.put(u.on(other).at(1), u.at(0), tca::block(1)).expect(other).commit();
  put_edges(halo, u, other);
  halo.expect(other).commit();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  std::vector<Times> all{
      {"step", "host", 8}, {"step", "graph", 8}, {"halo", "host", 8192}, {"halo", "graph", 8192}};
  {
    Steps of_small(world, small, stream), of_halo(world, halo, stream);
    for (int i = -1; i < batches; ++i) {
      for (Times& times : all) {
        const double us = (times.bytes == 8 ? of_small : of_halo).batch(times.start == "graph");
        if (i >= 0) times.us.push_back(us);
      }
    }
  }
  world.check();
  check(cudaStreamDestroy(stream));
  if (world.rank() == 0) print(all, as_json);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return measure(argc > 1 && std::string_view(argv[1]) == "--json");
  } catch (const tca::Error& error) {
    fmt::print(stderr, "graph_steps: {}\n", error.what());
    return error.exit_code();
  }
}
