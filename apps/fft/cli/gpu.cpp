#include "cli/options/refuse.hpp"
#include "fft/cli/solve.hpp"
#ifdef OPENTCA_FFT_ON_GPUS
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

#include "cli/output/record.hpp"
#include "fft/gpu/plan.hpp"
#include "fft/gpu/transposition.hpp"
#include "fft/gpu/way.hpp"
#include "gpu/machine.hpp"
#include "shared/gpu_call.hpp"
#include "shared/nccl_communicator.hpp"
#endif

namespace tca::tool {

#ifdef OPENTCA_FFT_ON_GPUS
namespace {

// The transforms of a plan with NCCL's exchanges, always as a CUDA graph, since NCCL is fastest that way.
struct NcclWay {
  template <class Real>
  NcclWay(World& world, const fft::GpuPlan<Real>& plan)
      : work(plan.stream()),
        forward(make(world, plan, fft::Direction::forward)),
        backward(make(world, plan, fft::Direction::backward)) {
    work.set_up();
    way = fft::gpu_way(world, forward, backward, plan.stream(), apps::Start::graph);
  }
  template <class Real>
  fft::Pipeline make(World& world, const fft::GpuPlan<Real>& plan, fft::Direction direction) {
    const fft::MakeTransposition exchange = [&](const fft::Hop& hop) {
      return fft::nccl_transposition(world, plan.decomposition(), plan.arrays(), hop, plan.stream());
    };
    return plan.with(direction, exchange, work);
  }

  fft::CufftWork work;
  fft::Pipeline forward, backward;
  std::unique_ptr<fft::Way> way;
};

}  // namespace

template <class Real>
void solve_on_gpus(World& world, const FftOptions& options, FftReport& report) {
  const apps::OwnStream stream;
  const fft::GpuPlan<Real> plan(world, report.field.extents, stream.get(),
                                plan_options(options, world.size()));
  const fft::Ends<Real> ends{plan.input_box(), plan.output_box(), plan.arrays().front(),
                             plan.arrays().back()};
  const apps::Start asked = apps::start_named(options.start, fft::gpu_starts);
  const apps::Start start = asked == apps::Start::automatic ? apps::Start::graph : asked;
  report.start = apps::name_of(start);
  bench::gpu::describe_gpus(world, report);
  report.libraries["cufft"] = fft::cufft_version();
  report.batches = plan.batches();
  report.bytes = bytes_sent(world, plan.decomposition(), 2 * sizeof(Real));
  report.explained = plan.explain();
  const auto own =
      fft::gpu_way(world, plan.forward_pipeline(), plan.backward_pipeline(), stream.get(), start);
  report.ways.push_back({.name = "OpenTCA", .library = "", .protocol = protocols_in(report.explained)});
  std::vector<fft::Way*> ways{own.get()};
  std::optional<NcclWay> nccl;
  report.nccl_version = options.compare ? apps::nccl_version() : "";
  if (!report.nccl_version.empty()) {
    nccl.emplace(world, plan);
    report.ways.push_back({.name = "NCCL", .library = "NCCL", .protocol = "packed"});
    ways.push_back(nccl->way.get());
  } else if (options.compare && world.rank() == 0) {
    fmt::print(stderr, "tca fft: built without NCCL, so there is nothing to compare with\n");
  }
  std::unique_ptr<fft::npb::Evolution> evolution;
  if constexpr (sizeof(Real) == sizeof(double))
    if (report.problem) evolution = fft::gpu_evolution(*report.problem, ends, stream.get());
  run_ways(world, options, ends, ways, evolution.get(), report);
}
#else
template <class Real>
void solve_on_gpus(World&, const FftOptions& options, FftReport&) {
  refuse(
      "--fabric {}: this tca was built without CUDA, or without its cuFFT (package libcufft-dev of the CUDA "
      "toolkit)",
      options.fabric);
}
#endif

template void solve_on_gpus<float>(World&, const FftOptions&, FftReport&);
template void solve_on_gpus<double>(World&, const FftOptions&, FftReport&);

}  // namespace tca::tool
