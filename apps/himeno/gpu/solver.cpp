// The arrays on the GPU, and the work of an iteration on its stream.
#include "himeno/gpu/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

#include "himeno/gpu/kernels.hpp"
#include "himeno/kernel.hpp"
#include "shared/gpu_call.hpp"
#include "tca/error.hpp"

namespace tca::himeno {

using namespace apps;

namespace {

// The stencil needs a shell of one cell. Along k a whole sector of 32 bytes is read for that cell, so all
// cells of the sector are computed early.
constexpr Extents gpu_shell_thickness{1, 1, 8};

int multiprocessors() {
  int device = 0, count = 0;
  cuda_ok(cudaGetDevice(&device), "asking for the GPU");
  cuda_ok(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device), "asking for the GPU");
  return count;
}

// The ranks on one GPU get equal shares, because their kernels wait for each other. Blocks with less than one
// task for each of eight warps would only make the barriers longer.
unsigned blocks_for_run(World& world, const Work& work) {
  const auto ranks = static_cast<unsigned>(world.ranks_on_device());
  unsigned blocks = 0;
  cuda_ok(blocks_at_once(ranks, blocks), "asking how many blocks run at once");
  if (blocks == 0) {
    throw Error(Errc::invalid_argument,
                fmt::format("{} ranks share a GPU of {} multiprocessors; a rank needs one at least", ranks,
                            multiprocessors()));
  }
  constexpr unsigned least_tasks = 8;
  return std::clamp(std::max(work.shell().count(), work.core().count()) / least_tasks, 1U, blocks);
}

// Without overlap all cells belong to the shell, which is complete before any of it is sent.
Work work_of(const Share& share, const Grid& grid, int rank, bool overlap) {
  const Extents extents = extents_of(share);
  if (cells_of(share) > std::numeric_limits<Word>::max())
    throw Error(Errc::invalid_argument,
                fmt::format("rank {} would have {} cells, more than 2^32 - 1; take more ranks", rank,
                            describe(extents)));
  Work work;
  if (!overlap) {
    const Box all = whole(share);
    work.region = region_of({&all, 1}, extents);
    work.shell_tasks = work.region.tasks;
    return work;
  }
  const Division division = divide(share, grid, rank, gpu_shell_thickness);
  work.shell_tasks = region_of(division.shell, extents).tasks;
  std::vector<Box> boxes = division.shell;
  boxes.push_back(division.core);
  work.region = region_of(boxes, extents);
  return work;
}

}  // namespace

float GpuSolution::at(const Extents& cell) const {
  return pressure_[index_in(
      extents_of(share_), {cell[0] - share_[0].begin, cell[1] - share_[1].begin, cell[2] - share_[2].begin})];
}

struct GpuSolver::Device {
  Device(World& world, const Work& tasks)
      : work(tasks),
        coefficients(work.region.tasks),
        shell_blocks(blocks_for(work.shell(), multiprocessors())),
        core_blocks(blocks_for(work.core(), multiprocessors())),
        run_blocks(blocks_for_run(world, work)),
        sums(std::max(shell_blocks + core_blocks, run_blocks)) {
    work.coefficients = coefficients.data();
    if (!world.ranks_share_devices()) side.emplace();
  }

  void upload(const Kernel& kernel) const {
    const auto from = kernel.coefficients();
    // Copies in parts: a buffer of all tasks would be as large as all coefficients of the Kernel.
    std::vector<TaskCoefficients> some(tasks_a_copy);
    for (Word first = 0; first < work.region.tasks; first += tasks_a_copy) {
      const Word count = std::min(tasks_a_copy, work.region.tasks - first);
      for (Word n = 0; n < count; ++n) gather(from, first + n, some[n]);
      stream.copy(coefficients.data() + first, some.data(), count * sizeof(TaskCoefficients),
                  cudaMemcpyHostToDevice);
    }
  }

  static constexpr Word tasks_a_copy = 4096;

  Work work;
  DeviceArray<TaskCoefficients> coefficients;
  unsigned shell_blocks, core_blocks, run_blocks;
  DeviceArray<double> sums;  // of squared changes, one per block
  DeviceArray<double> residual{1};
  PinnedArray<double> residual_here{1};
  // The streams are destroyed first, so that nothing runs any more when the memory goes.
  OwnStream stream;
  // For the exchange between ranks, beside the core.
  std::optional<SideStream> side;

 private:
  void gather(std::span<const std::span<const float>> from, Word task, TaskCoefficients& to) const {
    for (Word lane = 0; lane < task_cells; ++lane) {
      const Word at = work.region.element(task, lane);
      for (unsigned n = 0; n < coefficient_count; ++n)
        to.at(n, lane) = at == Region::nowhere ? 0 : from[n][at];
    }
  }
};

GpuSolver::GpuSolver(World& world, const Problem& problem, const Grid& grid, bool overlap)
    : world_(world),
      share_(share_of(problem, grid, world.rank())),
      pressure_{world.window<float>(cells_of(share_), "pressure 0"),
                world.window<float>(cells_of(share_), "pressure 1")},
      overlap_(overlap) {
  device_ = std::make_unique<Device>(world, work_of(share_, grid, world.rank(), overlap));
  const Kernel kernel(problem, share_);
  device_->upload(kernel);
  std::vector<float> initial(cells_of(share_));
  kernel.fill(initial.data());
  for (const Window<float>& pressure : pressure_) pressure.write(0, initial);
}

GpuSolver::~GpuSolver() = default;

Stream GpuSolver::stream() const { return device_->stream.get(); }

void GpuSolver::step_from(int which, GpuExchange& exchange) const {
  const Device& d = *device_;
  const int next = 1 - which;
  const Direction direction = which == 0 ? Direction::forwards : Direction::backwards;
  const auto sweep = [&](Tasks tasks, double* sums, unsigned blocks) {
    cuda_ok(launch_sweep(d.work, {tasks, sums, blocks}, direction,
                         pressure_[static_cast<std::size_t>(which)].data(),
                         pressure_[static_cast<std::size_t>(next)].data(), stream()),
            "starting an iteration");
  };
  sweep(d.work.shell(), d.sums.data(), d.shell_blocks);
  if (overlap_) {
    const cudaStream_t crossing = d.side ? d.side->fork(stream()) : stream();
    exchange.start(next, crossing);
    sweep(d.work.core(), d.sums.data() + d.shell_blocks, d.core_blocks);
    exchange.wait(next, crossing);
    if (d.side) d.side->join(stream());
  } else {
    exchange.exchange(next, stream());
  }
}

void GpuSolver::step(GpuExchange& exchange) {
  step_from(current_, exchange);
  steps_done(1);
}

void GpuSolver::steps_done(std::int64_t iterations) {
  iterations_ += iterations;
  current_ = (current_ + static_cast<int>(iterations % 2)) % 2;
}

void GpuSolver::add_up(GpuExchange& exchange) {
  const Device& d = *device_;
  cuda_ok(launch_total(d.sums.data(), d.shell_blocks + d.core_blocks, d.residual.data(), stream()),
          "adding up the residual");
  exchange.sum(d.residual.data(), stream());
}

void GpuSolver::run(const GpuExchange& exchange, std::int64_t iterations) {
  const Device& d = *device_;
  const Run run{.work = d.work,
                .pressure = {pressure_[0].data(), pressure_[1].data()},
                .current = current_,
                .iterations = iterations,
                .sums = d.sums.data(),
                .residual = d.residual.data()};
  cuda_ok(launch_run(run, *exchange.partners(), d.run_blocks, stream()), "starting the iterations' kernel");
  steps_done(iterations);
}

void GpuSolver::finish() {
  const Device& d = *device_;
  // Synchronises before the copy, because copies share a queue: a copy that waits for kernels that wait for
  // another rank holds up that rank's own copies, if it is a thread on the same GPU.
  cuda_ok(cudaStreamSynchronize(stream()), "iterating");
  cuda_ok(cudaMemcpyAsync(d.residual_here.data(), d.residual.data(), sizeof(double), cudaMemcpyDeviceToHost,
                          stream()),
          "fetching the residual");
  cuda_ok(cudaStreamSynchronize(stream()), "fetching the residual");
  world_.check();
  residual_ = *d.residual_here.data();
}

GpuSolution GpuSolver::solution() const {
  std::vector<float> pressure(cells_of(share_));
  pressure_[static_cast<std::size_t>(current_)].read(0, pressure);
  return {share_, std::move(pressure), residual_, iterations_};
}

}  // namespace tca::himeno
