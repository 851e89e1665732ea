// Half a sweep as on hosts, kernel by kernel: the outer cells, and while they travel the rest.
#include <optional>

#include "shared/gpu_stream_times.hpp"
#include "spin/gpu/kernels.hpp"
#include "spin/gpu/way.hpp"

namespace tca::spin {

using namespace apps;

namespace {

// The host puts as many sweeps on the stream between two checks that the other ranks are still there.
constexpr int sweeps_between_checks = 64;

template <class Real>
class StepWay : public Way {
 public:
  StepWay(World& world, GpuLattice<Real>& lattice, GpuExchange& exchange, Start start)
      : world_(world), lattice_(lattice), exchange_(exchange) {
    if (!world.ranks_share_devices()) side_.emplace();
    if (start == Start::graph)
      sweep_.emplace(world, stream(), [this] { enqueue_sweep(Update::over_relaxation, 0); });
  }

  Phase run(Update update, int sweeps) override {
    const std::uint32_t first = update == Update::heat_bath ? lattice_.count_heat_baths(sweeps) : 0;
    if (!is_alone())
      exchange_.add_up(none_.data(), 1, stream());  // no rank's clock starts before all are there
    StreamTimes times(1);
    times.time(0, stream(), [&] {
      for (int n = 0; n < sweeps; ++n) {
        if (n % sweeps_between_checks == 0) world_.check();
        if (update == Update::over_relaxation && sweep_)
          sweep_->launch();
        else
          enqueue_sweep(update, first + static_cast<std::uint32_t>(n));
      }
    });
    return {.total_us = times.us(0).front(), .state = measure()};
  }

  std::vector<MessageCost> time_messages() override {
    constexpr int sweeps = 20;
    enum Kind : std::size_t { halo, sum, kinds };
    StreamTimes times(kinds);
    for (int n = 0; n < sweeps; ++n) {
      for (const int colour : {0, 1})
        times.time(halo, stream(), [&] { exchange_.exchange(colour, stream()); });
      times.time(sum, stream(), [&] { exchange_.add_up(none_.data(), sums(), stream()); });
      lattice_.stream().synchronize("timing messages");
      world_.check();
    }
    return {cost_of(world_, messages[halo], exchange_.bytes(), times.us(halo), sweeps),
            cost_of(world_, messages[sum], sums() * static_cast<std::int64_t>(sizeof(double)), times.us(sum),
                    sweeps)};
  }
  void set_betas(std::span<const double> betas) override { lattice_.set_betas(betas); }
  std::int64_t bytes() const override { return exchange_.bytes(); }

 private:
  void enqueue_sweep(Update update, std::uint32_t number) {
    for (const int colour : {0, 1}) {
      const Cells& cells = lattice_.cells();
      launch(update, colour, 0, cells.shell, number);
      if (is_alone()) {
        launch(update, colour, cells.shell, cells.all, number);
      } else if (cells.shell == cells.all) {
        exchange_.exchange(colour, stream());
      } else {
        const cudaStream_t crossing = side_ ? side_->fork(stream()) : stream();
        exchange_.start(colour, crossing);
        launch(update, colour, cells.shell, cells.all, number);
        exchange_.wait(colour, crossing);
        if (side_) side_->join(stream());
      }
    }
  }

  void launch(Update update, int colour, Word begin, Word end, std::uint32_t number) const {
    cuda_ok(launch_half_sweep(update, lattice_.sites(), lattice_.cells(),
                              {static_cast<Word>(colour), begin, end, number}, stream()),
            "starting half a sweep");
  }

  Measurement measure() {
    cuda_ok(launch_sums(lattice_.sites(), lattice_.cells(), partial_.data(), total_.data(), stream()),
            "adding up");
    if (!is_alone()) exchange_.add_up(&total_.data()->energy, sums(), stream());
    lattice_.stream().synchronize("sweeping");
    world_.check();
    return measurement_of(lattice_.share().problem(), total_.read(lattice_.stream()).front());
  }

  int sums() const { return sum_count(lattice_.share().problem()); }
  bool is_alone() const { return world_.size() == 1; }
  cudaStream_t stream() const { return lattice_.stream().get(); }

  World& world_;
  GpuLattice<Real>& lattice_;
  GpuExchange& exchange_;
  DeviceArray<Sums> partial_{blocks_of_sums}, total_{1};
  DeviceArray<double> none_{sizeof(Sums) / sizeof(double)};
  std::optional<SideStream> side_;  // for what crosses, beside the rest
  std::optional<Graph> sweep_;
};

}  // namespace

template <class Real>
std::unique_ptr<Way> step_way(World& world, GpuLattice<Real>& lattice, GpuExchange& exchange, Start start) {
  return std::make_unique<StepWay<Real>>(world, lattice, exchange, start);
}

template std::unique_ptr<Way> step_way(World&, GpuLattice<float>&, GpuExchange&, Start);
template std::unique_ptr<Way> step_way(World&, GpuLattice<double>&, GpuExchange&, Start);

}  // namespace tca::spin
