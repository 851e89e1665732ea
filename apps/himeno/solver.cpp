// The order of an iteration: shell, start, core, wait, residual.
#include "himeno/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "tca/error.hpp"

namespace tca::himeno {

namespace {

// The stencil needs one cell. Along k a whole cache line is computed early instead, because it is loaded
// anyway and would otherwise be loaded a second time.
constexpr Extents shell_thickness{1, 1, 16};

double now_us() {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Share share_of(const Problem& problem, const Grid& grid, int rank) {
  const Extents interior = problem.interior();
  Share share{};
  for (int d = 0; d < 3; ++d) {
    const auto at = static_cast<std::size_t>(d);
    share[at] = grid.part(rank, d, interior[at]);
  }
  return share;
}

// Cuts from `core` a slab on each side that has a neighbour, one dimension after the other: no two overlap.
std::vector<Box> peel_shell(Box& core, const Grid& grid, int rank) {
  std::vector<Box> shell;
  for (int d = 0; d < 3; ++d) {
    const auto at = static_cast<std::size_t>(d);
    for (const int side : {-1, 1}) {
      Grid::Coordinates step{};
      step[at] = side;
      if (!grid.neighbour(rank, step)) continue;
      Box slab = core;
      if (side < 0) {
        core.begin[at] = slab.end[at] = std::min(core.begin[at] + shell_thickness[at], core.end[at]);
      } else {
        core.end[at] = slab.begin[at] = std::max(core.end[at] - shell_thickness[at], core.begin[at]);
      }
      if (!slab.empty()) shell.push_back(slab);
    }
  }
  return shell;
}

}  // namespace

void check_grid(const Problem& problem, const Grid& grid) {
  if (grid.dims() != 3) {
    throw Error(Errc::invalid_argument,
                fmt::format("the grid {} has {} dimensions, the array has 3", grid.describe(), grid.dims()));
  }
  const Extents interior = problem.interior();
  for (int d = 0; d < 3; ++d) {
    const std::int64_t cells = interior[static_cast<std::size_t>(d)];
    if (grid.extent(d) <= cells) continue;
    throw Error(
        Errc::invalid_argument,
        fmt::format("the grid {} has {} ranks along dimension {}, where the array {} has {} cells to share",
                    grid.describe(), grid.extent(d), d, describe(problem.extents), cells));
  }
}

Solver::Solver(World& world, const Problem& problem, const Grid& grid, bool traced)
    : world_(world),
      share_(share_of(problem, grid, world.rank())),
      kernel_(problem, share_),
      pressure_{world.window<float>(kernel_.cells()), world.window<float>(kernel_.cells())},
      whole_{{1, 1, 1}, {share_[0].size + 1, share_[1].size + 1, share_[2].size + 1}},
      core_(whole_),
      traced_(traced) {
  shell_ = peel_shell(core_, grid, world.rank());
  // No put can come before this: an exchange is committed by all ranks together, after it.
  for (const Window<float>& pressure : pressure_) kernel_.fill(pressure.data());
}

float Solver::at(const Extents& cell) const {
  return pressure_[static_cast<std::size_t>(current_)][kernel_.index(
      cell[0] - share_[0].begin, cell[1] - share_[1].begin, cell[2] - share_[2].begin)];
}

double Solver::timed_sweep(const char* name, std::span<const Box> boxes, Phases& phases) {
  const float* const p = pressure_[static_cast<std::size_t>(current_)].data();
  float* const next = pressure_[static_cast<std::size_t>(1 - current_)].data();
  const double begin = now_us();
  double sum = 0;
  for (const Box& box : boxes) sum += kernel_.sweep(p, next, box);
  const double end = now_us();
  phases.compute_us += end - begin;
  if (traced_) world_.trace_span(name, begin, end);
  return sum;
}

Phases Solver::iterate(Exchange& exchange, bool overlap) {
  Phases phases;
  const int next = 1 - current_;
  double sum = overlap ? timed_sweep("shell", shell_, phases) : timed_sweep("sweep", {&whole_, 1}, phases);

  const double started = now_us();
  exchange.start(next);
  phases.start_us = now_us() - started;

  if (overlap) sum += timed_sweep("core", {&core_, 1}, phases);

  const double waiting = now_us();
  exchange.wait(next);
  const double arrived = now_us();
  residual_ = exchange.sum(sum);
  phases.wait_us = arrived - waiting;
  phases.reduce_us = now_us() - arrived;
  current_ = next;
  ++iterations_;
  return phases;
}

}  // namespace tca::himeno
