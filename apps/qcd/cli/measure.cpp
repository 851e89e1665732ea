#include "qcd/cli/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "cli/output/progress.hpp"
#include "cli/output/record.hpp"
#include "measure/agree.hpp"
#include "qcd/random.hpp"
#include "qcd/spinor.hpp"
#include "shared/cli/messages.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

using Clock = std::chrono::steady_clock;

// Returns the peer, or null. It must be destroyed last, since what was made with it needs it.
std::unique_ptr<qcd::Peer> peer_for(World& world, const QcdOptions& options) {
  return options.compare ? qcd::mpi_peer(world) : nullptr;
}

// Returns this rank's median of a part.
double median_of(double qcd::Times::*part, const std::vector<qcd::Times>& each) {
  std::vector<double> times;
  for (const qcd::Times& one : each) times.push_back(one.*part);
  return median(std::move(times));
}

// `each` has the parts of each step on this rank.
QcdPace pace_of(World& world, const std::vector<qcd::Times>& each, std::vector<double> samples, double flops,
                std::int64_t bytes) {
  QcdPace pace{.samples_us = bench::largest(world, std::move(samples))};
  const auto count = static_cast<double>(std::max<std::size_t>(1, pace.samples_us.size()));
  const qcd::Times own{.operator_us = median_of(&qcd::Times::operator_us, each),
                       .wait_us = median_of(&qcd::Times::wait_us, each),
                       .sums_us = median_of(&qcd::Times::sums_us, each)};
  for (const qcd::Times& one : world.all_gather(own)) {
    pace.operator_us = std::max(pace.operator_us, one.operator_us);
    pace.wait_us = std::max(pace.wait_us, one.wait_us);
    pace.sums_us = std::max(pace.sums_us, one.sums_us);
  }
  pace.median_us = median(pace.samples_us);
  if (pace.median_us > 0) pace.gflops = flops / count / pace.median_us * 1e-3;
  for (const std::int64_t one : world.all_gather(bytes)) pace.bytes += one;
  return pace;
}

// Shows the decades from a residual of 1 down to the tolerance as a bar.
class SolveProgress {
 public:
  SolveProgress(bool shown, double tolerance) : shown_(shown), way_(-std::log10(tolerance)) {}

  void begin() {
    if (shown_) bar_.emplace("solving", 1000);
  }
  void update(int iteration, double residual) {
    if (bar_ && residual > 0 && std::isfinite(residual) && bar_->due())
      bar_->update(static_cast<std::int64_t>(-std::log10(residual) / way_ * 1000),
                   fmt::format("iteration {}, residual {:.1e}", iteration, residual));
  }
  void end() { bar_.reset(); }

 private:
  bool shown_;
  double way_;
  std::optional<Progress> bar_;
};

// OpenTCA or a peer, whose inversions of the sources alternate with the other's.
struct Side {
  std::optional<std::string> peer;
  std::unique_ptr<qcd::Inverter> inverter;
};

// A step, in which the halo is exchanged `hops` times, and its messages.
struct QcdMessages {
  const char* step;
  double step_us;
  int hops;
  std::int64_t bytes;       // of the halo in a step
  std::string faces, sums;  // their explain(); no sums: empty
  int numbers;              // of a sum
};

// Prints a line for each message, if asked for. `each` has the times of steps on this rank. Collective.
void explain_messages(World& world, const QcdOptions& options, const QcdMessages& messages,
                      const std::vector<qcd::Times>& each) {
  if (!options.explain) return;
  constexpr int sums_a_step = 2;
  std::vector<double> faces, sums;
  for (const qcd::Times& one : each) {
    faces.push_back(one.wait_us / messages.hops);
    sums.push_back(one.sums_us / sums_a_step);
  }
  MessageTable table{.who = "OpenTCA", .step = messages.step, .step_us = messages.step_us};
  std::vector<ExplainedMessage> explained{{"FACES", messages.faces}};
  const auto steps = static_cast<double>(each.size());
  if (world.size() > 1 && !each.empty()) {
    table.costs.push_back(
        apps::cost_of(world, "FACES", messages.bytes / messages.hops, faces, steps / messages.hops));
    if (!messages.sums.empty()) {
      const auto bytes = messages.numbers * static_cast<std::int64_t>(sizeof(double));
      table.costs.push_back(apps::cost_of(world, "SUMS", bytes, sums, steps / sums_a_step));
      explained.push_back({"SUMS", messages.sums});
    }
  }
  if (world.rank() != 0) return;
  print_messages(table, explained, options);
  fmt::print("\n{}", joined(explained));
}

// How often an application of the operator exchanges the halo.
int hops_of(const QcdOptions& options) { return is_staggered(options) || options.no_even_odd ? 1 : 2; }

// Applies an operator in batches.
template <class T>
struct Applied {
  Applied(World& world, const qcd::Gauge& gauge, const qcd::InverterOptions& options, std::uint64_t seed)
      : d(qcd::operator_of<T>(world, gauge, options)) {
    const std::size_t size = d->shape().size();
    qcd::Shape whole = d->shape();
    whole.sites = static_cast<std::size_t>(gauge.lattice().volume());
    const qcd::Field<double> source = random_qcd_source(gauge.lattice(), whole, seed, 0);
    in.assign(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(size));
    out.resize(size);
    d->apply(in, out, false);
  }
  void run(int count) {
    for (int n = 0; n < count; ++n) {
      d->times() = {};
      const double before = qcd::now_us(d->world());
      d->apply(in, out, n % 2 == 1);
      samples.push_back(qcd::now_us(d->world()) - before);
      each.push_back(d->times());
    }
  }

  std::unique_ptr<qcd::Operator<T>> d;
  qcd::Field<T> in, out;
  std::vector<double> samples;
  std::vector<qcd::Times> each;  // the parts of each of them
};

template <class T>
void measure_in(World& world, const qcd::Gauge& gauge, const QcdSetting& setting) {
  const QcdOptions& options = setting.options;
  const std::unique_ptr<qcd::Peer> peer = peer_for(world, options);
  qcd::InverterOptions how = inverter_options(options);
  std::vector<std::unique_ptr<Applied<T>>> sides;
  sides.push_back(std::make_unique<Applied<T>>(world, gauge, how, options.seed));
  how.wilson.peer = peer.get();
  if (peer) {
    sides.push_back(std::make_unique<Applied<T>>(world, gauge, how, options.seed));
    require_same(world, "MPI", sides[0]->out == sides[1]->out);
  }
  // All ranks must agree on the number of batches, so rank 0's clock decides between batches.
  constexpr int batch = 20;
  const auto begin = Clock::now();
  double seconds = 0;
  while (seconds < options.seconds) {
    for (const auto& side : sides) side->run(batch);
    seconds = world.all_gather(std::chrono::duration<double>(Clock::now() - begin).count()).front();
  }
  std::vector<QcdPace> paces;
  for (const auto& side : sides) {
    qcd::Operator<T>& d = *side->d;
    const double flops = d.flops() * static_cast<double>(d.shape().rhs * side->samples.size());
    paces.push_back(pace_of(world, side->each, std::move(side->samples), flops, d.bytes()));
  }
  if (peer) paces[1].peer = "mpi";
  if (world.rank() == 0) {
    print_dslash(setting, paces[0]);
    if (peer) print_peer(paces[0], paces[1], "apply", false);
  }
  const QcdMessages messages{.step = "an apply",
                             .step_us = paces[0].median_us,
                             .hops = hops_of(options),
                             .bytes = sides[0]->d->bytes(),
                             .faces = sides[0]->d->explain(),
                             .sums = {},
                             .numbers = 0};
  explain_messages(world, options, messages, sides[0]->each);
  if (world.rank() != 0 || options.json.empty()) return;
  for (std::size_t n = 0; n < paces.size(); ++n) append_dslash(setting, paces[n], sides[n]->d->explain());
}

}  // namespace

qcd::Field<double> random_qcd_source(const qcd::Lattice& lattice, const qcd::Shape& shape, std::uint64_t seed,
                                     std::uint64_t number) {
  qcd::Field<double> source;
  source.reserve(shape.size());
  for (std::int64_t s = 0; s < lattice.volume(); ++s) {
    qcd::RandomStream random(seed, qcd::Purpose::source, static_cast<std::uint64_t>(lattice.global_index(s)),
                             0, number);
    for (std::size_t i = 0; i < shape.rhs * shape.reals; ++i) source.push_back(random.gaussian());
  }
  return source;
}

void require_same(World& world, const std::string& peer, bool is_same_here) {
  const std::vector<char> all = world.all_gather(static_cast<char>(is_same_here));
  const auto differs = std::find(all.begin(), all.end(), 0);
  if (differs == all.end()) return;
  throw Error(
      Errc::refused,
      fmt::format("an application of the operator over {} differs from OpenTCA's on rank {}: one of the two "
                  "is wrong, so neither is measured",
                  peer, differs - all.begin()));
}

bool measure_inversion(World& world, const qcd::Gauge& gauge, const QcdSetting& setting) {
  const QcdOptions& options = setting.options;
  const bool first = world.rank() == 0;
  const std::unique_ptr<qcd::Peer> peer = peer_for(world, options);
  SolveProgress progress(first, options.tolerance);
  qcd::InverterOptions how = inverter_options(options);
  if (first)
    how.solve.progress = [&](int iteration, double residual) { progress.update(iteration, residual); };
  std::vector<Side> sides;
  sides.push_back({std::nullopt, std::make_unique<qcd::Inverter>(world, gauge, how)});
  how.wilson.peer = peer.get();
  if (peer) sides.push_back({"mpi", std::make_unique<qcd::Inverter>(world, gauge, how)});
  bool converged = true;
  const int solves = options.together ? 1 : options.rhs;
  for (int n = 0; n < solves; ++n) {
    const qcd::Field<double> source = random_qcd_source(gauge.lattice(), sides[0].inverter->shape(),
                                                        options.seed, static_cast<std::uint64_t>(n));
    std::vector<QcdPace> paces;
    std::vector<qcd::Times> each;
    for (const Side& side : sides) {
      qcd::Field<double> x(source.size());
      progress.begin();
      const qcd::Inversion inversion = side.inverter->invert(source, x);
      progress.end();
      paces.push_back(pace_of(world, inversion.solution.each, inversion.solution.iteration_us,
                              inversion.flops, side.inverter->bytes()));
      paces.back().peer = side.peer;
      if (!side.peer) each = inversion.solution.each;
      converged = converged && inversion.solution.converged;
      if (!first) continue;
      if (!side.peer) print_inversion(setting, inversion, paces.back());
      if (!options.json.empty()) append_inversion(setting, inversion, paces.back(), side.inverter->explain());
    }
    if (first && paces.size() > 1) print_peer(paces[0], paces[1], "iteration", true);
    if (n > 0) continue;
    const qcd::Inverter& own = *sides[0].inverter;
    const QcdMessages messages{.step = "an iteration",
                               .step_us = paces[0].median_us,
                               .hops = 2 * hops_of(options),
                               .bytes = own.bytes(),
                               .faces = own.explain(),
                               .sums = own.explain_sums(),
                               .numbers = qcd::numbers_in_a_sum(how)};
    explain_messages(world, options, messages, each);
  }
  return converged;
}

void measure_operator(World& world, const qcd::Gauge& gauge, const QcdSetting& setting) {
  setting.options.precision == "single" ? measure_in<float>(world, gauge, setting)
                                        : measure_in<double>(world, gauge, setting);
}

}  // namespace tca::tool
