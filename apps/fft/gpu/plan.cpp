#include "fft/gpu/plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "fft/gpu/transposition.hpp"
#include "shared/gpu_call.hpp"
#include "tca/error.hpp"

namespace tca::fft {

namespace {

// A batch keeps a GPU busy for longer than it takes to start one.
int gpu_batches(const Decomposition& decomposition, const Options& options, std::size_t element_bytes) {
  constexpr std::int64_t chosen = 4, least_bytes = std::int64_t{4} << 20;
  const std::int64_t bytes = decomposition.box(0, 0).elements() * static_cast<std::int64_t>(element_bytes);
  const std::int64_t wanted = options.batches > 0 ? options.batches : std::min(chosen, bytes / least_bytes);
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, decomposition.most_batches()));
}

// Throws on every rank when the arrays do not fit on some GPU, with as much again for cuFFT to work in as one of them takes.
void check_memory(World& world, const Decomposition& decomposition, std::size_t element_bytes) {
  std::size_t available = 0, total = 0;
  apps::cuda_ok(cudaMemGetInfo(&available, &total), "asking for the GPU's memory");
  double needed = 0, largest = 0;
  for (std::size_t stage = 0; stage < decomposition.stages().size(); ++stage) {
    const double bytes = static_cast<double>(decomposition.box(stage, world.rank()).elements()) *
                         static_cast<double>(element_bytes);
    needed += bytes;
    largest = std::max(largest, bytes);
  }
  needed = (needed + largest) * std::max(world.ranks_on_device(), 1);
  const double lacking = std::ranges::max(world.all_gather(needed - static_cast<double>(available)));
  if (lacking <= 0) return;
  throw Error(
      Errc::out_of_memory,
      fmt::format(
          "a transform of {} complex numbers on {} rank{} needs {:.1f} GB more than a GPU has free: use "
          "more GPUs, smaller extents, or single precision",
          describe(decomposition.extents()), world.size(), world.size() == 1 ? "" : "s", lacking * 1e-9));
}

}  // namespace

template <class Real>
GpuPlan<Real>::GpuPlan(World& world, const Extents& extents, Stream stream, const Options& options)
    : world_(world),
      stream_(stream),
      real_size_(options.real ? extents[2] : 0),
      decomposition_(decompose(extents, world.size(), options)),
      input_box_(decomposition_.box(0, world.rank())),
      output_box_(decomposition_.box(decomposition_.stages().size() - 1, world.rank())),
      batches_(gpu_batches(decomposition_, options, sizeof(Complex))),
      work_(stream) {
  check_memory(world, decomposition_, sizeof(Complex));
  for (std::size_t stage = 0; stage < decomposition_.stages().size(); ++stage)
    arrays_.push_back(world.window<Complex>(decomposition_.box(stage, world.rank()).elements(),
                                            fmt::format("stage {}", stage)));
  const MakeTransposition direct = [&](const Hop& hop) {
    return direct_gpu_transposition(world_, decomposition_, arrays_, hop, options.channels, stream_);
  };
  forward_.emplace(with(Direction::forward, direct, work_));
  backward_.emplace(with(Direction::backward, direct, work_));
  work_.set_up();
  // Until every rank has set up, no kernel may wait for another rank on a GPU that they share.
  world.barrier();
}

template <class Real>
Pipeline GpuPlan<Real>::with(Direction direction, const MakeTransposition& transposition,
                             CufftWork& work) const {
  const MakeTransform transform = [&](std::size_t stage, const Local& local) {
    return work.transform(local, arrays_[stage].data(), direction);
  };
  return {decomposition_, world_.rank(), direction, batches_, real_size_, transform, transposition};
}

template class GpuPlan<float>;
template class GpuPlan<double>;

}  // namespace tca::fft
