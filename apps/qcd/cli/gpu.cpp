#include "qcd/cli/gpu.hpp"

#include "tca/error.hpp"

#ifdef OPENTCA_QCD_ON_GPUS

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "boot/launch_info.hpp"
#include "cli/output/record.hpp"
#include "gpu/machine.hpp"
#include "qcd/cli/measure.hpp"
#include "qcd/gpu/inverter.hpp"
#include "qcd/spinor.hpp"
#include "shared/nccl_communicator.hpp"

namespace tca::tool {
namespace {

struct GpuSide {
  std::optional<std::string> peer;
  std::unique_ptr<qcd::GpuInverter> inverter;
  std::vector<double> samples;
};

// OpenTCA and, where they are available, NCCL started by a graph and MPI started by the host.
struct GpuSides {
  GpuSides(World& world, const qcd::Gauge& gauge, const QcdOptions& options, qcd::Start start) {
    qcd::InverterOptions how = inverter_options(options);
    all.push_back({std::nullopt, std::make_unique<qcd::GpuInverter>(world, gauge, how, start), {}});
    if (!options.compare) return;
    const auto add = [&](const char* name, qcd::Start by, auto make_peer) {
      std::string missing = "built without it";
      try {
        if (std::unique_ptr<qcd::Peer> peer = make_peer(world)) {
          how.wilson.peer = peers.emplace_back(std::move(peer)).get();
          all.push_back({name, std::make_unique<qcd::GpuInverter>(world, gauge, how, by), {}});
          return;
        }
      } catch (const Error& error) {  // every rank throws it alike
        if (error.code() != Errc::invalid_argument) throw;
        missing = error.what();
      }
      if (world.rank() == 0) fmt::print(stderr, "tca qcd: no comparison with {}: {}\n", name, missing);
    };
    add("nccl", qcd::Start::graph, qcd::nccl_peer);
    add("mpi", qcd::Start::host, [&](World& of) {
      if (options.threads || !boot::is_rank_of_mpi())
        throw Error(Errc::invalid_argument,
                    "the ranks are not mpirun's, which starts them where it is there");
      return qcd::staged_mpi_peer(of);
    });
  }

  std::vector<std::unique_ptr<qcd::Peer>> peers;  // destroyed last, since the inverters need them
  std::vector<GpuSide> all;
};

// Returns the time of the slowest rank, since all ranks wait for it.
double slowest(World& world, double mine) {
  const std::vector<double> all = world.all_gather(mine);
  return *std::max_element(all.begin(), all.end());
}

qcd::Shape shape_of(const qcd::Lattice& lattice, const QcdOptions& options) {
  return {static_cast<std::size_t>(lattice.volume()),
          static_cast<std::size_t>(inverter_options(options).wilson.rhs), qcd::spinor_reals};
}

// Fills in what started the solves, and on which GPUs. Collective.
void describe(World& world, const qcd::GpuInverter& inverter, QcdPace& pace) {
  pace.start = qcd::name_of(inverter.start());
  bench::gpu::describe_gpus(world, pace);
}

// Returns the pace of so many applications, each to `rhs` right-hand sides.
QcdPace pace_of(World& world, const GpuSide& side, int applications, std::size_t rhs) {
  QcdPace pace{.samples_us = side.samples};
  describe(world, *side.inverter, pace);
  pace.median_us = median(pace.samples_us);
  const double flops = applications * static_cast<double>(rhs) * side.inverter->flops();
  if (pace.median_us > 0) pace.gflops = flops / pace.median_us * 1e-3;
  for (const std::int64_t one : world.all_gather(side.inverter->bytes())) pace.bytes += applications * one;
  pace.peer = side.peer;
  if (side.peer == "nccl") pace.libraries["nccl"] = apps::nccl_version();
  return pace;
}

// Checks a peer's result before its applications are measured. The kernels of its hops differ from OpenTCA's,
// so results may differ by rounding. Collective.
void require_same_applications(World& world, GpuSides& sides, const qcd::Field<double>& source, bool single) {
  const qcd::Field<double> even(source.begin(),
                                source.begin() + static_cast<std::ptrdiff_t>(source.size() / 2));
  qcd::Field<double> own, theirs;
  sides.all[0].inverter->apply(even, own, false);
  double largest = 0;
  for (const double one : own) largest = std::max(largest, std::abs(one));
  const double rounding = (single ? 2e-5 : 1e-13) * largest;
  for (std::size_t k = 1; k < sides.all.size(); ++k) {
    sides.all[k].inverter->apply(even, theirs, false);
    const bool is_same = std::equal(own.begin(), own.end(), theirs.begin(), theirs.end(),
                                    [&](double a, double b) { return std::abs(a - b) <= rounding; });
    require_same(world, *sides.all[k].peer, is_same);
  }
}

// Returns the time of an iteration, as the slope between a short solve and a long one. The short one is to
// 1e-3, or to the requested tolerance if that is larger. The long one is to the requested tolerance, or to
// 1e-6 if that is smaller, which single precision reaches too. So there are iterations between the two
// whatever is requested.
double slope(World& world, GpuSide& side, const qcd::Field<double>& source, double tolerance) {
  world.barrier();
  const qcd::Timed longer = side.inverter->timed(source, std::min(tolerance, 1e-6));
  world.barrier();
  const qcd::Timed shorter = side.inverter->timed(source, std::max(tolerance, 1e-3));
  return slowest(world, qcd::iteration_us(longer, shorter));
}

}  // namespace

bool measure_inversion_on_gpus(World& world, const qcd::Gauge& gauge, const QcdSetting& setting) {
  constexpr int slopes = 9;
  const QcdOptions& options = setting.options;
  const bool first = world.rank() == 0;
  GpuSides sides(world, gauge, options, qcd::start_named(options.started_by));
  const qcd::Shape whole = shape_of(gauge.lattice(), options);
  const qcd::GpuInverter& own = *sides.all[0].inverter;
  if (first) fmt::print("started   by {}: {}\n", qcd::name_of(own.start()), own.reason());
  bool converged = true;
  const int solves = options.together ? 1 : options.rhs;
  for (int n = 0; n < solves; ++n) {
    const qcd::Field<double> source =
        random_qcd_source(gauge.lattice(), whole, options.seed, static_cast<std::uint64_t>(n));
    std::vector<qcd::Inversion> inversions;
    qcd::Field<double> x;
    for (GpuSide& side : sides.all) inversions.push_back(side.inverter->invert(source, x));
    // In turn, so that disturbances of the machine affect all alike.
    for (GpuSide& side : sides.all) side.samples.clear();
    for (int turn = 0; turn < slopes; ++turn)
      for (GpuSide& side : sides.all) side.samples.push_back(slope(world, side, source, options.tolerance));
    std::vector<QcdPace> paces;
    for (const GpuSide& side : sides.all) paces.push_back(pace_of(world, side, 2, whole.rhs));
    for (std::size_t k = 0; k < paces.size(); ++k) {
      converged = converged && inversions[k].solution.converged;
      if (!first) continue;
      if (k == 0) print_inversion(setting, inversions[k], paces[k]);
      if (!options.json.empty())
        append_inversion(setting, inversions[k], paces[k], sides.all[k].inverter->explain());
    }
    for (std::size_t k = 1; first && k < paces.size(); ++k) print_peer(paces[0], paces[k], "iteration", true);
    if (first && options.explain && n == 0) fmt::print("\n{}", own.explain());
  }
  return converged;
}

void measure_operator_on_gpus(World& world, const qcd::Gauge& gauge, const QcdSetting& setting) {
  constexpr int batch = 200;
  const QcdOptions& options = setting.options;
  GpuSides sides(world, gauge, options, options.started_by == "host" ? qcd::Start::host : qcd::Start::graph);
  const qcd::Shape whole = shape_of(gauge.lattice(), options);
  const qcd::Field<double> source = random_qcd_source(gauge.lattice(), whole, options.seed, 0);
  require_same_applications(world, sides, source, options.precision == "single");
  // The first batch of each side is not counted.
  for (GpuSide& side : sides.all) side.inverter->applications_us(source, batch);
  double us = 0;
  while (us < options.seconds * 1e6) {
    for (GpuSide& side : sides.all) {
      side.samples.push_back(slowest(world, side.inverter->applications_us(source, batch)));
      us += side.samples.back() * batch;
    }
  }
  std::vector<QcdPace> paces;
  for (const GpuSide& side : sides.all) paces.push_back(pace_of(world, side, 1, whole.rhs));
  if (world.rank() != 0) return;
  print_dslash(setting, paces[0]);
  for (std::size_t k = 1; k < paces.size(); ++k) print_peer(paces[0], paces[k], "apply", false);
  if (options.explain) fmt::print("\n{}", sides.all[0].inverter->explain());
  if (options.json.empty()) return;
  for (std::size_t k = 0; k < paces.size(); ++k)
    append_dslash(setting, paces[k], sides.all[k].inverter->explain());
}

qcd::Pion measure_pion_on_gpus(World& world, const qcd::Gauge& gauge, const QcdOptions& options,
                               const qcd::PionProgress& progress, QcdPace& pace) {
  const qcd::InverterOptions how = inverter_options(options);
  qcd::GpuInverter inverter(world, gauge, how, qcd::start_named(options.started_by));
  describe(world, inverter, pace);
  return qcd::measure_pion(
      world, gauge.lattice(), how,
      [&](const qcd::Field<double>& source, qcd::Field<double>& x) { return inverter.invert(source, x); },
      progress);
}

}  // namespace tca::tool

#else

namespace tca::tool {

namespace {

[[noreturn]] void refuse_gpus() { throw Error(Errc::invalid_argument, "this tca was built without CUDA"); }

}  // namespace

bool measure_inversion_on_gpus(World&, const qcd::Gauge&, const QcdSetting&) { refuse_gpus(); }
void measure_operator_on_gpus(World&, const qcd::Gauge&, const QcdSetting&) { refuse_gpus(); }
qcd::Pion measure_pion_on_gpus(World&, const qcd::Gauge&, const QcdOptions&, const qcd::PionProgress&,
                               QcdPace&) {
  refuse_gpus();
}

}  // namespace tca::tool

#endif
