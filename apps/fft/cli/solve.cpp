#include "fft/cli/solve.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "cli/options/extents.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/record.hpp"
#include "fft/fftw.hpp"
#include "fft/mpi_transposition.hpp"
#include "fft/peers/fftw_mpi.hpp"
#include "fft/way.hpp"
#include "shared/mpi_session.hpp"

namespace tca::tool {
namespace {

// On a modelled machine all samples are alike.
int samples_of(const FftOptions& options) {
  return options.samples == 0 && options.fabric == "sim" ? 1 : options.samples;
}

// On a modelled machine nobody waits for FFTW.
bool is_measured(const FftOptions& options) { return options.fabric != "sim"; }

// The transforms of a plan with MPI's exchanges.
struct MpiWay {
  template <class Real>
  MpiWay(World& world, const fft::Plan<Real>& plan, bool packed) {
    const fft::MakeTransposition exchange = [&](const fft::Hop& hop) {
      return fft::mpi_transposition(world, plan.decomposition(), plan.arrays(), hop, packed);
    };
    forward = std::make_unique<fft::Pipeline>(plan.with(fft::Direction::forward, exchange));
    backward = std::make_unique<fft::Pipeline>(plan.with(fft::Direction::backward, exchange));
    way = fft::host_way(world, *forward, *backward);
  }
  std::unique_ptr<fft::Pipeline> forward, backward;
  std::unique_ptr<fft::Way> way;
};

template <class Real>
void solve_on_hosts(World& world, const FftOptions& options, FftReport& report) {
  const fft::Plan<Real> plan(world, report.field.extents, plan_options(options, world.size()));
  const fft::Ends<Real> ends{plan.input_box(), plan.output_box(), plan.arrays().front(),
                             plan.arrays().back()};
  report.batches = plan.batches();
  report.bytes = bytes_sent(world, plan.decomposition(), 2 * sizeof(Real));
  report.explained = plan.explain();
  report.libraries = {{"fftw", fft::fftw_version()}};
  const auto own = fft::host_way(world, plan.forward_pipeline(), plan.backward_pipeline());
  report.ways.push_back({.name = "OpenTCA", .library = "", .protocol = protocols_in(report.explained)});
  std::vector<fft::Way*> ways{own.get()};
  std::optional<apps::MpiSession> session;
  std::vector<MpiWay> mpi;
  std::unique_ptr<fft::Way> fftw_mpi;
  report.mpi_version = options.compare ? apps::mpi_version() : "";
  if (!report.mpi_version.empty()) {
    session.emplace(world);
    mpi.emplace_back(world, plan, true);
    mpi.emplace_back(world, plan, false);
    report.ways.push_back({.name = "MPI_Alltoallv", .library = "MPI", .protocol = "packed"});
    report.ways.push_back({.name = "MPI_Alltoallw", .library = "MPI", .protocol = "datatype"});
    for (const MpiWay& one : mpi) ways.push_back(one.way.get());
    if (!report.problem) fftw_mpi = fft::fftw_mpi_way(world, report.field, ends, is_measured(options));
  }
  if (fftw_mpi) {
    report.ways.push_back({.name = "FFTW-MPI", .library = "MPI", .protocol = "fftw"});
    ways.push_back(fftw_mpi.get());
  }
  std::unique_ptr<fft::npb::Evolution> evolution;
  if constexpr (sizeof(Real) == sizeof(double))
    if (report.problem) evolution = fft::npb::host_evolution(world, *report.problem, ends);
  run_ways(world, options, ends, ways, evolution.get(), report);
}

}  // namespace

std::int64_t bytes_sent(World& world, const fft::Decomposition& decomposition, std::size_t number_bytes) {
  std::int64_t numbers = 0;
  for (std::size_t stage = 0; stage + 1 < decomposition.stages().size(); ++stage)
    for (const fft::Piece& piece :
         decomposition.sent({.from = stage, .to = stage + 1, .dim = {}}, world.rank(), 0))
      if (piece.target != world.rank()) numbers += piece.box.elements();
  const std::vector<std::int64_t> all = world.all_gather(numbers);
  return std::accumulate(all.begin(), all.end(), std::int64_t{0}) * static_cast<std::int64_t>(number_bytes);
}

template <class Real>
void run_ways(World& world, const FftOptions& options, const fft::Ends<Real>& ends,
              std::span<fft::Way* const> ways, fft::npb::Evolution* evolution, FftReport& report) {
  Bars bars;
  const fft::Progress progress = bars.shown_by(world.rank());
  if constexpr (sizeof(Real) == sizeof(double)) {
    if (report.problem) {
      const int runs = std::max(samples_of(options), 1);
      for (int run = 0; run < runs; ++run)
        for (std::size_t i = 0; i < ways.size(); ++i)
          report.ways[i].runs.push_back(
              fft::npb::run(world, *report.problem, ends, *ways[i], *evolution, progress));
      return;
    }
  }
  const auto results =
      fft::measure(world, report.field, ends, ways, {.samples = samples_of(options)}, progress);
  for (std::size_t i = 0; i < ways.size(); ++i) report.ways[i].result = results[i];
}

template void run_ways(World&, const FftOptions&, const fft::Ends<float>&, std::span<fft::Way* const>,
                       fft::npb::Evolution*, FftReport&);
template void run_ways(World&, const FftOptions&, const fft::Ends<double>&, std::span<fft::Way* const>,
                       fft::npb::Evolution*, FftReport&);

fft::Field field_of(const FftOptions& options) {
  if (!options.name.empty()) return {.extents = fft::npb::problem_named(options.name).extents};
  const auto extents = parse_extents("--extent", options.extent);
  if (!extents || (extents->size() != 1 && extents->size() != 3))
    refuse("--extent {}: give one number, or three such as 64x64x128 (x, y, z, of which z is contiguous)",
           options.extent);
  fft::Field field{.extents = {}, .real = options.real};
  for (std::size_t d = 0; d < 3; ++d) field.extents[d] = (*extents)[extents->size() == 1 ? 0 : d];
  return field;
}

fft::Options plan_options(const FftOptions& options, int ranks) {
  return {.grid = options.grid == "auto" ? std::vector<int>{} : parse_grid(options.grid, 2, ranks),
          .real = options.real,
          .batches = options.batches,
          .measured = is_measured(options),
          .channels = apps::Channels(options.channels, fft::messages)};
}

FftReport solve_fft(World& world, const FftOptions& options) {
  const fft::Field field = field_of(options);
  const fft::Decomposition decomposition =
      fft::decompose(field.extents, world.size(), plan_options(options, world.size()));
  FftReport report{.field = field,
                   .problem = options.name.empty() ? nullptr : &fft::npb::problem_named(options.name),
                   .grid = fmt::format("{}x{}", decomposition.rows(), decomposition.columns()),
                   .in_double = !options.single,
                   .job = describe_job(world, options)};
  const auto solve = [&]<class Real>(Real) {
    on_gpus(options) ? solve_on_gpus<Real>(world, options, report)
                     : solve_on_hosts<Real>(world, options, report);
  };
  options.single ? solve(float{}) : solve(double{});
  return report;
}

}  // namespace tca::tool
