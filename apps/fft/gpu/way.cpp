#include "fft/gpu/way.hpp"

#include <array>
#include <chrono>
#include <optional>

#include "fft/gpu/kernels.hpp"
#include "shared/gpu_call.hpp"

namespace tca::fft {

using namespace apps;

namespace {

class GpuWay : public Way {
 public:
  GpuWay(World& world, const Pipeline& forward, const Pipeline& backward, Stream stream, Start start)
      : world_(world), forward_(forward), backward_(backward), stream_(stream) {
    // What is set up at the first use is not captured.
    forward_.run();
    backward_.run();
    finish();
    if (start == Start::host) return;
    forward_graph_.emplace(world, stream, [this] { forward_.run(); });
    backward_graph_.emplace(world, stream, [this] { backward_.run(); });
  }

  void forward() override {
    start_forward();
    finish();
  }
  void backward() override {
    start_backward();
    finish();
  }

  Taken run(int pairs) override {
    const auto begin = std::chrono::steady_clock::now();
    for (int pair = 0; pair < pairs; ++pair) {
      start_forward();
      start_backward();
    }
    finish();
    return {.total_us =
                std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count()};
  }

 private:
  void start_forward() const { forward_graph_ ? forward_graph_->launch() : forward_.run(); }
  void start_backward() const { backward_graph_ ? backward_graph_->launch() : backward_.run(); }
  void finish() {
    cuda_ok(cudaStreamSynchronize(stream_), "transforming");
    world_.check();
  }

  World& world_;
  const Pipeline &forward_, &backward_;
  Stream stream_;
  std::optional<Graph> forward_graph_, backward_graph_;
};

class GpuEvolution : public npb::Evolution {
 public:
  GpuEvolution(const npb::Problem& problem, const Ends<double>& ends, Stream stream)
      : ends_(ends),
        stream_(stream),
        kept_(static_cast<std::size_t>(ends.output_box.elements())),
        factors_(npb::factors(problem, ends.output_box)),
        along_x_(factors_[0]),
        along_y_(factors_[1]),
        along_z_(factors_[2]),
        places_(npb::places_added(problem, ends.input_box)) {}

  void keep() override {
    cuda_ok(cudaMemcpyAsync(kept_.data(), ends_.output.data(), kept_.size() * sizeof(double2),
                            cudaMemcpyDeviceToDevice, stream_),
            "keeping what was transformed");
  }

  void evolve() override {
    const Extents& size = ends_.output_box.size;
    const std::int64_t extents[3]{size[0], size[1], size[2]};
    cuda_ok(launch_evolve(kept_.data(), reinterpret_cast<double2*>(ends_.output.data()), along_x_.data(),
                          along_y_.data(), along_z_.data(), extents, stream_),
            "evolving");
  }

  npb::Complex add_up() override {
    if (places_.size() == 0) return {};
    cuda_ok(launch_add_up(reinterpret_cast<const double2*>(ends_.input.data()), places_.data(),
                          static_cast<int>(places_.size()), sum_.data(), stream_),
            "adding up");
    cuda_ok(cudaStreamSynchronize(stream_), "adding up");
    return {sum_.data()->x, sum_.data()->y};
  }

 private:
  Ends<double> ends_;
  Stream stream_;
  DeviceArray<double2> kept_;
  std::array<std::vector<double>, 3> factors_;
  DeviceArray<double> along_x_, along_y_, along_z_;
  DeviceArray<std::int64_t> places_;
  PinnedArray<double2> sum_{1};
};

}  // namespace

std::unique_ptr<Way> gpu_way(World& world, const Pipeline& forward, const Pipeline& backward, Stream stream,
                             Start start) {
  return std::make_unique<GpuWay>(world, forward, backward, stream, start);
}

std::unique_ptr<npb::Evolution> gpu_evolution(const npb::Problem& problem, const Ends<double>& ends,
                                              Stream stream) {
  return std::make_unique<GpuEvolution>(problem, ends, stream);
}

}  // namespace tca::fft
