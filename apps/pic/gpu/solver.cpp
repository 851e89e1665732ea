#include "pic/gpu/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "pic/gpu/kernel_of_steps.hpp"
#include "pic/gpu/state.hpp"
#include "tca/error.hpp"

namespace tca::pic {

using apps::cuda_ok;

template <class Number>
struct GpuSolver<Number>::State : GpuState<Number> {
  using GpuState<Number>::GpuState;

  std::unique_ptr<GpuExchange> peer;
  bool captures = false;
  std::map<const Exchange*, apps::Graph> graphs;  // which go before what they hold of NCCL
  std::optional<KernelOfSteps<Number>> kernel;
  std::int64_t steps = 0;
};

template <class Number>
GpuSolver<Number>::GpuSolver(World& world, const Deck& deck, const Grid& grid, const GpuOptions& options)
    : Solver<Number>(world, deck, grid) {
  const OnHost<Number> host{.deck = this->deck(),
                            .domain = this->domain(),
                            .fields = this->fields(),
                            .particles = this->particles(),
                            .room = options.room > 0 ? options.room : 2 * this->room(),
                            .sine = this->sine(),
                            .cosine = this->cosine(),
                            .flow = this->flow(),
                            .charge = this->charge(),
                            .ions = this->ions(),
                            .unchecked = this->unchecked()};
  state_ = std::make_unique<State>(world, host, options.channels);
  state_->captures = options.start != apps::Start::host;
  if (options.start == apps::Start::kernel) state_->kernel.emplace(*state_);
  world.barrier();
}

template <class Number>
GpuSolver<Number>::~GpuSolver() = default;

template <class Number>
Exchange& GpuSolver<Number>::exchange() {
  return state_->exchange;
}

template <class Number>
Exchange* GpuSolver<Number>::nccl_peer() {
  state_->peer = nccl_exchange(state_->world, state_->what, state_->exchange.queues(), state_->stream.get());
  return state_->peer.get();
}

template <class Number>
std::int64_t GpuSolver<Number>::steps() const {
  return state_->steps;
}

template <class Number>
void GpuSolver<Number>::begin(Exchange& exchange) {
  exchange.start_field();
  exchange.wait_field();
  state_->stream.synchronize("filling ghosts");
}

// As on hosts (see solver.cpp), but that particles travel beside all that follows the push.
template <class Number>
void GpuSolver<Number>::enqueue(Exchange& exchange) {
  State& state = *state_;
  const cudaStream_t stream = state.stream.get();
  cuda_ok(launch_advance_b(state.on, stream), "advancing B");
  const bool is_alone = state.on.neighbours == 0;
  cuda_ok(launch_push(state.on, stream), "pushing particles");
  if (!is_alone) {
    enqueue_round(exchange, state.side.fork(stream));
    exchange.start_flow();
  }
  cuda_ok(launch_advance_b(state.on, stream), "advancing B");
  if (!is_alone) exchange.wait_flow();
  cuda_ok(launch_advance_e(state.on, stream), "advancing E");
  if (is_alone) return;
  exchange.start_field();
  exchange.wait_field();
  state.side.join(stream);
}

template <class Number>
void GpuSolver<Number>::enqueue_round(Exchange& exchange, cudaStream_t stream) {
  State& state = *state_;
  auto& travelling = static_cast<GpuExchange&>(exchange);
  cuda_ok(launch_set_lengths(state.on, travelling.ends(), stream), "queueing particles");
  travelling.travel(stream);
  cuda_ok(launch_take_in(state.on, travelling.ends(), stream), "taking particles");
}

template <class Number>
template <class Start>
double GpuSolver<Number>::timed(Exchange& exchange, std::int64_t steps, const Start& start) {
  State& state = *state_;
  const double begin = state.world.now().count();
  start();
  state.steps += steps;
  for (int rounds = 1;; ++rounds) {
    state.stream.synchronize("a step");
    state.world.check();
    this->note_rounds(rounds);
    if (std::exchange(*state.particles.more.data(), 0) == 0) break;
    cuda_ok(launch_queue_late(state.on, state.stream.get()), "queueing particles");
    enqueue_round(exchange, state.stream.get());
  }
  if (state.steps % steps_between_gpu_sorts == 0)
    cuda_ok(launch_sort(state.on, state.stream.get()), "sorting particles");
  state.stream.synchronize("a step");
  const double us = (state.world.now().count() - begin) * 1e6;
  if (*state.particles.failed.data() != 0)
    throw Error(
        Errc::out_of_memory,
        fmt::format("step {} on rank {}: more particles have come or gone than there is room for on the GPU; "
                    "use more GPUs, or a smaller time step (cfl)",
                    state.steps, state.world.rank()));
  return us;
}

template <class Number>
Phases GpuSolver<Number>::step(Exchange& exchange) {
  State& state = *state_;
  const apps::Graph* graph = nullptr;
  if (state.captures)
    graph = &state.graphs
                 .try_emplace(&exchange, state.world, state.stream.get(),
                              [this, &exchange] { enqueue(exchange); })
                 .first->second;
  return {.push_us = timed(exchange, 1, [&] { graph != nullptr ? graph->launch() : enqueue(exchange); })};
}

template <class Number>
std::int64_t GpuSolver<Number>::most_at_once(const Exchange& exchange) const {
  if (!state_->kernel || &exchange != &state_->exchange) return 1;
  return steps_between_gpu_sorts - state_->steps % steps_between_gpu_sorts;
}

template <class Number>
Phases GpuSolver<Number>::run(Exchange& exchange, std::int64_t steps, bool gauss,
                              std::vector<Sample>& samples) {
  State& state = *state_;
  if (!state.kernel || &exchange != &state.exchange)
    return Solver<Number>::run(exchange, steps, gauss, samples);
  const double us = timed(exchange, steps, [&] {
    cuda_ok(launch_steps(state.kernel->plan, static_cast<unsigned>(steps), state.kernel->blocks,
                         state.stream.get()),
            "starting the kernel of steps");
  });
  const std::vector<Sample> taken = this->taken(steps, gauss);
  samples.insert(samples.end(), taken.begin(), taken.end());
  return Phases{.push_us = us}.each_of(steps);
}

template <class Number>
Sample GpuSolver<Number>::sample(bool gauss) {
  cuda_ok(launch_add_up(state_->on, state_->stream.get()), "adding up energies");
  return taken(1, gauss).front();
}

template <class Number>
std::vector<Sample> GpuSolver<Number>::taken(std::int64_t steps, bool gauss) {
  State& state = *state_;
  const cudaStream_t stream = state.stream.get();
  if (gauss) {
    cuda_ok(launch_deposit(state.on, stream), "adding up charges");
    this->charge_fold().run(stream);
    cuda_ok(launch_compare(state.on, steps - 1, stream), "comparing with Gauss's law");
  }
  std::vector<Sample> samples;
  const std::vector<Sums> sums = state.sums.read(state.stream);
  for (std::int64_t n = 0; n < steps; ++n) {
    const Sums& one = sums[static_cast<std::size_t>(n)];
    this->check_momenta(one.kinetic_energy);
    this->note_rounds(static_cast<int>(one.rounds));
    samples.push_back({.field_energy = one.twice_field_energy / 2,
                       .kinetic_energy = one.kinetic_energy,
                       .sine = one.sine,
                       .cosine = one.cosine,
                       .off_gauss = std::bit_cast<double>(one.off_gauss),
                       .particles = static_cast<std::int64_t>(one.particles),
                       .absorbed = static_cast<std::int64_t>(one.absorbed)});
  }
  cuda_ok(cudaMemsetAsync(state.sums.data(), 0, sums.size() * sizeof(Sums), stream), "clearing sums");
  return samples;
}

template <class Number>
void GpuSolver<Number>::fetch() {
  const State& state = *state_;
  std::vector<Vec<double>> e(state.e.size());
  state.stream.copy(e.data(), state.e.data(), e.size() * sizeof(Vec<double>), cudaMemcpyDeviceToHost);
  const unsigned used = state.particles.used.read(state.stream)[0];
  this->adopt(state.particles.rows.read(used, state.stream), e, state.b.read(state.stream), state.steps);
}

template class GpuSolver<double>;
template class GpuSolver<std::int64_t>;

}  // namespace tca::pic
