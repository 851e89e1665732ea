#include "himeno/cli/alone.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "himeno/partition.hpp"
#include "measure/agree.hpp"
#include "measure/measure.hpp"

namespace tca::tool {
namespace {

constexpr bench::Effort little_effort{.placements = 1, .rounds = 24, .sample_us = 500};

// The outer cells that a rank's neighbours need and the ghosts that they fill. Steps change the sign of all
// of them in turn, so that each step sends other values, and what arrives shows whether it is the step's.
class Outer {
 public:
  Outer(const World& world, const himeno::Solver& solver, const Grid& grid)
      : pressure_(solver.pressure()[0].data()) {
    const himeno::Extents extents = himeno::extents_of(solver.share());
    const auto cells_in = [&](const himeno::Box& box, std::vector<std::size_t>& cells) {
      for (std::int64_t i = box.begin[0]; i < box.end[0]; ++i)
        for (std::int64_t j = box.begin[1]; j < box.end[1]; ++j)
          for (std::int64_t k = box.begin[2]; k < box.end[2]; ++k)
            cells.push_back(himeno::index_in(extents, {i, j, k}));
    };
    for (const Grid::Coordinates& step : himeno::directions()) {
      if (!grid.neighbour(world.rank(), step)) continue;
      cells_in(himeno::slice(solver.share(), step, false), sent_);
      cells_in(himeno::slice(solver.share(), step, true), ghosts_);
    }
    for (const std::size_t cell : sent_) values_.push_back(pressure_[cell]);
    sum_ = sum();
  }

  void write(float sign) {
    for (std::size_t i = 0; i < sent_.size(); ++i) pressure_[sent_[i]] = sign * values_[i];
  }
  bool read(float sign) const { return sum() == sign * sum_; }

 private:
  double sum() const {
    double sum = 0;
    for (const std::size_t ghost : ghosts_) sum += pressure_[ghost];
    return sum;
  }

  float* pressure_;
  std::vector<std::size_t> sent_, ghosts_;
  std::vector<float> values_;
  double sum_;
};

class HaloStep final : public bench::Stepped {
 public:
  // Without an exchange a step only writes and reads.
  HaloStep(std::shared_ptr<Outer> outer, himeno::Exchange* exchange)
      : outer_(std::move(outer)), exchange_(exchange) {}

  void step() override {
    sign_ = -sign_;
    outer_->write(sign_);
    if (exchange_ != nullptr) {
      exchange_->start(0);
      exchange_->wait(0);
    }
    was_right_ = outer_->read(sign_) || exchange_ == nullptr;
    wrong_ |= guarded && !was_right_;
  }
  bool right(World& world) override { return bench::all_say(world, was_right_ && !wrong_); }

 private:
  std::shared_ptr<Outer> outer_;
  himeno::Exchange* exchange_;
  float sign_ = 1;
  bool was_right_ = true, wrong_ = false;
};

HimenoAlone eight_bytes(World& world) {
  const auto make = [&] {
    bench::Contenders<bench::PingPong> both;
    both.push_back(bench::chain_ping_pong(world, sizeof(double), {"shm", {}}));
    both.push_back(bench::mpi_ping_pong(world, sizeof(double)));
    return both;
  };
  auto samples = bench::measure(world, make, little_effort, [](int) {}).samples;
  return {"8 bytes", std::move(samples[0]), std::move(samples[1])};
}

}  // namespace

std::vector<HimenoAlone> measure_alone(World& world, const himeno::Solver& solver, const Grid& grid,
                                       himeno::Exchange& own, himeno::Exchange& mpi, bool guarded) {
  if (world.size() < 2) return {};
  const auto outer = std::make_shared<Outer>(world, solver, grid);
  const auto make = [&] {
    bench::Contenders<bench::Stepped> all;
    for (himeno::Exchange* exchange : {static_cast<himeno::Exchange*>(nullptr), &own, &mpi}) {
      all.push_back(std::make_unique<HaloStep>(outer, exchange));
      all.back()->fabric = exchange == &mpi ? "mpi" : "shm";
      all.back()->protocol = "halo";
      all.back()->guarded = guarded || exchange == &mpi;
    }
    return all;
  };
  const auto samples = bench::measure(world, make, little_effort).samples;
  return {eight_bytes(world),
          {"the halo alone", bench::beyond(samples[1], samples[0]), bench::beyond(samples[2], samples[0])}};
}

}  // namespace tca::tool
