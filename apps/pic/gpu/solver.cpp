#include "pic/gpu/solver.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "pic/gpu/exchange.hpp"
#include "pic/gpu/kernels.hpp"
#include "pic/gpu/rows.hpp"
#include "shared/gpu_call.hpp"
#include "tca/error.hpp"

namespace tca::pic {

namespace {

using apps::cuda_ok;
using apps::DeviceArray;
using apps::OwnStream;

constexpr std::int64_t steps_between_gpu_sorts = 25;

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

  // Says where everything is.
  void describe(const Deck& deck, const Exchanged<Number>& what) {
    const Domain& domain = what.domain;
    const Queues& queues = exchange.queues();
    on = {.medium = {.e = e.data(),
                     .b = b.data(),
                     .flow = what.flow.data(),
                     .half = deck.dt() / 2,
                     .ratio = deck.dt() / deck.cell,
                     .step = {domain.step(1), domain.step(2)},
                     .directions = directions.data()},
          .e = e.data(),
          .b = b.data(),
          .elements = domain.elements(),
          .origin = domain.index(0, 0, 0),
          .cells = {domain.cells(0), domain.cells(1), domain.cells(2)},
          .side = deck.cell,
          .dims = domain.dims(),
          .rows = rows.rows(),
          .spare = spare.rows(),
          .used = used.data(),
          .capacity = static_cast<unsigned>(capacity),
          .begin = begin.data(),
          .failed = failed.data(),
          .ways = {},
          .out = queues.out.data(),
          .in = queues.in.data(),
          .leaving = leaving.data(),
          .room = static_cast<unsigned>(what.room),
          .neighbours = static_cast<int>(domain.neighbours().size())};
    for (std::uint8_t direction = 0; direction < 27; ++direction) on.ways[direction] = domain.way(direction);
  }

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
  state.describe(deck, what);
  const Queues& queues = state.exchange.queues();
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
