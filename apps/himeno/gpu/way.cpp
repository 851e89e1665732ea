#include "himeno/gpu/way.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "shared/gpu_call.hpp"
#include "shared/gpu_stream_times.hpp"
#include "tca/error.hpp"

namespace tca::himeno {

using namespace apps;

namespace {

// A sample is the average over at least this many iterations, so that the launch and the return to the host
// (some 50 us together) are less than the noise of one iteration.
constexpr std::int64_t least_iterations_a_sample = 1000;
constexpr std::int64_t most_samples = 20;
// The host puts this many launches on the stream between two checks that the other ranks are still there.
constexpr int launches_between_checks = 128;

class GpuWay : public Way {
 public:
  GpuWay(World& world, GpuSolver& solver, GpuExchange& exchange, Start start)
      : world_(world), solver_(solver), exchange_(exchange), start_(start) {
    if (start == Start::kernel && exchange.partners() == nullptr)
      throw Error(
          Errc::invalid_argument,
          "one kernel for all iterations needs every rank in one sub-cluster; across sub-clusters they are "
          "started by the host or a graph");
    if (start != Start::graph) return;
    // Two iterations, because the arrays alternate; the graph begins with array 0.
    two_.emplace(world, solver.stream(), [&] {
      solver.step_from(0, exchange);
      solver.step_from(1, exchange);
    });
  }

  std::vector<Phases> run(std::int64_t iterations, const Tick& tick) override {
    std::vector<Phases> samples;
    const std::int64_t count =
        std::clamp<std::int64_t>(iterations / least_iterations_a_sample, 1, most_samples);
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t some = iterations * (n + 1) / count - iterations * n / count;
      samples.push_back({.device_us = timed(some) / static_cast<double>(some)});
      if (tick) tick(some);
    }
    return samples;
  }

  std::int64_t rehearsal() const override { return 20; }
  std::int64_t bytes() const override { return exchange_.bytes(); }

 private:
  double timed(std::int64_t iterations) {
    const auto begin = std::chrono::steady_clock::now();
    if (start_ == Start::kernel) {
      solver_.run(exchange_, iterations);
    } else {
      enqueue(iterations);
      solver_.add_up(exchange_);
    }
    solver_.finish();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  }

  void enqueue(std::int64_t iterations) {
    for (int launches = 1; iterations > 0; ++launches) {
      if (launches % launches_between_checks == 0) world_.check();
      if (two_ && solver_.current() == 0 && iterations >= 2) {
        two_->launch();
        solver_.steps_done(2);
        iterations -= 2;
      } else {
        solver_.step(exchange_);
        --iterations;
      }
    }
  }

  World& world_;
  GpuSolver& solver_;
  GpuExchange& exchange_;
  Start start_;
  std::optional<Graph> two_;
};

}  // namespace

Start chosen_start(const Problem& problem, int ranks, bool kernels_reach_all, double memory_bytes_per_s) {
  if (!kernels_reach_all) return Start::graph;
  // Bytes per second; an H100 has 3.35e12, an H200 4.9e12.
  constexpr double quick = 4e12;
  const std::int64_t most_cells_by_kernel = ranks > 1 && memory_bytes_per_s < quick ? 4'200'000 : 1'700'000;
  const Extents cells = problem.interior();
  return cells[0] * cells[1] * cells[2] / ranks <= most_cells_by_kernel ? Start::kernel : Start::graph;
}

// The clock is in kHz, and data comes at both of its edges.
double slowest_memory(World& world) {
  int device = 0, clock = 0, bits = 0;
  cuda_ok(cudaGetDevice(&device), "asking for the rank's GPU");
  cuda_ok(cudaDeviceGetAttribute(&clock, cudaDevAttrMemoryClockRate, device), "asking for a GPU's memory");
  cuda_ok(cudaDeviceGetAttribute(&bits, cudaDevAttrGlobalMemoryBusWidth, device),
          "asking for a GPU's memory");
  const std::vector<double> all = world.all_gather(2e3 * clock * bits / 8);
  return *std::min_element(all.begin(), all.end());
}

std::unique_ptr<Way> gpu_way(World& world, GpuSolver& solver, GpuExchange& exchange, Start start) {
  return std::make_unique<GpuWay>(world, solver, exchange, start);
}

std::vector<MessageCost> time_messages(World& world, const GpuSolver& solver, GpuExchange& exchange) {
  constexpr int iterations = 20;
  if (world.size() == 1) return {};
  enum Kind : std::size_t { halo, sum, kinds };
  StreamTimes times(kinds);
  const DeviceArray<double> value(1);
  const Stream stream = solver.stream();
  for (int n = 0; n < iterations; ++n) {
    times.time(halo, stream, [&] { exchange.exchange(solver.current(), stream); });
    times.time(sum, stream, [&] { exchange.sum(value.data(), stream); });
    cuda_ok(cudaStreamSynchronize(stream), "timing messages");
    world.check();
  }
  return {cost_of(world, messages[halo], exchange.bytes(), times.us(halo), iterations),
          cost_of(world, messages[sum], sizeof(double), times.us(sum), iterations)};
}

}  // namespace tca::himeno
