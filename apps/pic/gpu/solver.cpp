#include "pic/gpu/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "pic/direct_exchange.hpp"
#include "pic/gpu/kernels.hpp"
#include "shared/gpu_call.hpp"
#include "tca/error.hpp"

namespace tca::pic {

namespace {

using apps::cuda_ok;
using apps::DeviceArray;
using apps::OwnStream;

constexpr std::int64_t steps_between_gpu_sorts = 25;

// The exchange in the order of a stream. Particles travel from where kernels have queued them.
template <class Number>
class StreamExchange : public Exchange {
 public:
  StreamExchange(World& world, const Exchanged<Number>& what, const apps::Channels& channels,
                 cudaStream_t stream)
      : fold_(committed_fold(world, what, channels.of("CURRENT"))),
        halo_(committed_halo(world, what.domain, what.e, channels.of("FIELD"))),
        queues_(world, what.domain, what.room, channels.of("PARTICLES")),
        stream_(stream) {}

  void start_flow() override { fold_.start(stream_); }
  void wait_flow() override { fold_.wait(stream_); }
  void start_field() override { halo_.start(stream_); }
  void wait_field() override { halo_.wait(stream_); }
  int migrate(Particles&, const Leavers&) override {
    queues_.chain.run(stream_);
    return 1;
  }

  std::array<std::int64_t, 3> bytes() const override { return {fold_.bytes(), halo_.bytes(), 0}; }
  bool is_timed() const override { return false; }
  std::string explain(std::size_t message) const override {
    return message == 0 ? fold_.explain() : message == 1 ? halo_.explain() : queues_.chain.explain();
  }

  const Queues& queues() const { return queues_; }

 private:
  Fold fold_;
  Halo halo_;
  Queues queues_;
  cudaStream_t stream_;
};

// A rank's particles on its GPU, with room for those that come between two sorts.
class GpuRows {
 public:
  explicit GpuRows(std::size_t capacity) : cell_(capacity), numbers_{make(capacity)} {}

  Rows rows() const {
    return {cell_.data(), {number(0), number(1), number(2)}, {number(3), number(4), number(5)}, number(6)};
  }
  void write(const Particles& particles, const OwnStream& stream) const {
    const auto copy = [&](const auto& from, auto* to) {
      stream.copy(to, from.data(), from.size() * sizeof(from[0]), cudaMemcpyHostToDevice);
    };
    copy(particles.cell, cell_.data());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      copy(particles.at[axis], number(axis));
      copy(particles.p[axis], number(3 + axis));
    }
    copy(particles.charge, number(6));
  }
  // Without the gaps among the first `used`.
  Particles read(std::size_t used, const OwnStream& stream) const {
    Particles particles;
    std::vector<std::int32_t> cell = cell_.read(stream);
    cell.resize(used);
    const auto kept = [&](const auto& values, auto& into) {
      for (std::size_t i = 0; i < used; ++i)
        if (cell[i] >= 0) into.push_back(values[i]);
    };
    for (std::size_t axis = 0; axis < 3; ++axis) {
      kept(numbers_[axis]->read(stream), particles.at[axis]);
      kept(numbers_[3 + axis]->read(stream), particles.p[axis]);
    }
    kept(numbers_[6]->read(stream), particles.charge);
    kept(cell, particles.cell);
    return particles;
  }

 private:
  using Numbers = std::array<std::unique_ptr<DeviceArray<double>>, 7>;

  static Numbers make(std::size_t capacity) {
    Numbers numbers;
    for (auto& each : numbers) each = std::make_unique<DeviceArray<double>>(capacity);
    return numbers;
  }
  double* number(std::size_t which) const { return numbers_[which]->data(); }

  DeviceArray<std::int32_t> cell_;
  Numbers numbers_;
};

// A quarter more than there are at first, and what may come between two sorts.
std::size_t capacity_for(std::size_t particles, std::int64_t room, std::size_t neighbours) {
  return particles + particles / 4 + static_cast<std::size_t>(room) * neighbours * 4 + 1024;
}

}  // namespace

template <class Number>
struct GpuSolver<Number>::State {
  State(World& on_world, const Exchanged<Number>& what, std::size_t particles, const Fields& fields,
        const apps::Channels& channels)
      : world(on_world),
        e(on_world.window<Vec<double>>(what.domain.elements(), "E on the GPU")),
        b(static_cast<std::size_t>(what.domain.elements())),
        directions(std::vector<std::uint8_t>(what.domain.directions(),
                                             what.domain.directions() + what.domain.elements())),
        capacity(capacity_for(particles, what.room, what.domain.neighbours().size())),
        rows(capacity),
        spare(capacity),
        begin(static_cast<std::size_t>(what.domain.elements()) + 1),
        exchange(on_world, Exchanged<Number>{what.domain, e, what.flow, what.room}, channels, stream.get()) {
    stream.copy(e.data(), fields.e(), e.size() * sizeof(Vec<double>), cudaMemcpyHostToDevice);
  }

  // Nothing runs any more when the memory goes.
  ~State() { cudaStreamSynchronize(stream.get()); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  World& world;
  OwnStream stream;
  Window<Vec<double>> e;
  DeviceArray<Vec<double>> b;
  DeviceArray<std::uint8_t> directions;
  std::size_t capacity;
  GpuRows rows, spare;
  DeviceArray<unsigned> begin, used{1}, leaving{most_neighbours};
  apps::PinnedArray<unsigned> failed{1};
  StreamExchange<Number> exchange;
  OnGpu<Number> on{};
  QueueEnds ends{};
  bool captures = false;
  std::optional<apps::Graph> graph;
  std::int64_t steps = 0;
};

template <class Number>
GpuSolver<Number>::GpuSolver(World& world, const Deck& deck, const Grid& grid, apps::Start start,
                             const apps::Channels& channels)
    : Solver<Number>(world, deck, grid) {
  if (deck.walls)
    throw Error(
        Errc::invalid_argument,
        fmt::format("deck {}: boxes with walls are simulated on hosts; leave --fabric cuda out", deck.name));
  const Domain& domain = this->domain();
  const Exchanged<Number> what{domain, this->fields().e_window(), this->flow(), 2 * this->room()};
  state_ = std::make_unique<State>(world, what, this->particles().size(), this->fields(), channels);
  State& state = *state_;
  state.captures = start != apps::Start::host;
  state.rows.write(this->particles(), state.stream);
  state.used.write({static_cast<unsigned>(this->particles().size())}, state.stream);
  const Queues& queues = state.exchange.queues();
  state.on = {.medium = {.e = state.e.data(),
                         .b = state.b.data(),
                         .flow = this->flow().data(),
                         .half = deck.dt() / 2,
                         .ratio = deck.dt() / deck.cell,
                         .step = {domain.step(1), domain.step(2)},
                         .directions = state.directions.data()},
              .e = state.e.data(),
              .b = state.b.data(),
              .elements = domain.elements(),
              .origin = domain.index(0, 0, 0),
              .cells = {domain.cells(0), domain.cells(1), domain.cells(2)},
              .side = deck.cell,
              .dims = domain.dims(),
              .rows = state.rows.rows(),
              .spare = state.spare.rows(),
              .used = state.used.data(),
              .capacity = static_cast<unsigned>(state.capacity),
              .begin = state.begin.data(),
              .failed = state.failed.data(),
              .ways = {},
              .out = queues.out.data(),
              .in = queues.in.data(),
              .leaving = state.leaving.data(),
              .room = static_cast<unsigned>(what.room),
              .neighbours = static_cast<int>(domain.neighbours().size())};
  for (std::uint8_t direction = 0; direction < 27; ++direction)
    state.on.ways[direction] = domain.way(direction);
  for (std::size_t k = 0; k < domain.neighbours().size(); ++k) {
    state.ends.to[k] = queues.puts[k].device();
    state.ends.from[k] = queues.arrivals[k].device();
  }
  world.barrier();
}

template <class Number>
GpuSolver<Number>::~GpuSolver() = default;

template <class Number>
Exchange& GpuSolver<Number>::exchange() {
  return state_->exchange;
}

template <class Number>
void GpuSolver<Number>::begin(Exchange& exchange) {
  exchange.start_field();
  exchange.wait_field();
  state_->stream.synchronize("filling ghosts");
  if (state_->captures)
    state_->graph.emplace(state_->world, state_->stream.get(), [this, &exchange] { enqueue(exchange); });
}

// As on hosts; see solver.cpp.
template <class Number>
void GpuSolver<Number>::enqueue(Exchange& exchange) {
  State& state = *state_;
  const cudaStream_t stream = state.stream.get();
  cuda_ok(launch_advance_b(state.on, stream), "advancing B");
  cuda_ok(launch_push(state.on, stream), "pushing particles");
  exchange.start_flow();
  cuda_ok(launch_advance_b(state.on, stream), "advancing B");
  exchange.wait_flow();
  cuda_ok(launch_advance_e(state.on, stream), "advancing E");
  exchange.start_field();
  cuda_ok(launch_set_lengths(state.on, state.ends, stream), "queueing particles");
  Particles none;
  exchange.migrate(none, {});
  cuda_ok(launch_unpack(state.on, state.ends, stream), "taking particles");
  exchange.wait_field();
}

template <class Number>
Phases GpuSolver<Number>::step(Exchange& exchange) {
  State& state = *state_;
  Phases phases;
  const double begin = state.world.now().count();
  if (state.graph) {
    state.graph->launch();
  } else {
    enqueue(exchange);
  }
  if (++state.steps % steps_between_gpu_sorts == 0)
    cuda_ok(launch_sort(state.on, state.stream.get()), "sorting particles");
  state.stream.synchronize("a step");
  phases.push_us = (state.world.now().count() - begin) * 1e6;
  state.world.check();
  if (*state.failed.data() != 0)
    throw Error(
        Errc::out_of_memory,
        fmt::format("step {} on rank {}: more particles have come or gone than there is room for on the GPU; "
                    "use more GPUs, or a smaller time step (cfl)",
                    state.steps, state.world.rank()));
  return phases;
}

template <class Number>
void GpuSolver<Number>::bring_back() {
  const State& state = *state_;
  std::vector<Vec<double>> e(state.e.size());
  state.stream.copy(e.data(), state.e.data(), e.size() * sizeof(Vec<double>), cudaMemcpyDeviceToHost);
  this->adopt(state.rows.read(state.used.read(state.stream)[0], state.stream), e, state.b.read(state.stream),
              state.steps);
}

template <class Number>
Sample GpuSolver<Number>::sample(bool gauss) {
  bring_back();
  return Solver<Number>::sample(gauss);
}

template class GpuSolver<double>;
template class GpuSolver<std::int64_t>;

}  // namespace tca::pic
