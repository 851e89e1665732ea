// The order of an iteration is shell, start, core, wait, residual.
#include "himeno/solver.hpp"

namespace tca::himeno {

namespace {

// The stencil needs a shell of one cell. Along k a whole cache line is computed early instead, because it is
// loaded anyway and would otherwise be loaded a second time.
constexpr Extents shell_thickness{1, 1, 16};

// The update of a cell reads twelve coefficients and the pressure, and writes the new pressure.
constexpr double bytes_per_cell = 14 * sizeof(float);
constexpr double flops_per_cell = 34;

double cells_in(std::span<const Box> boxes) {
  double cells = 0;
  for (const Box& box : boxes) {
    if (box.empty()) continue;
    double own = 1;
    for (std::size_t d = 0; d < 3; ++d) own *= static_cast<double>(box.end[d] - box.begin[d]);
    cells += own;
  }
  return cells;
}

}  // namespace

Solver::Solver(World& world, const Problem& problem, const Grid& grid, bool traced)
    : world_(world),
      share_(share_of(problem, grid, world.rank())),
      kernel_(problem, share_),
      pressure_{world.window<float>(kernel_.cells(), "pressure 0"),
                world.window<float>(kernel_.cells(), "pressure 1")},
      whole_(whole(share_)),
      parts_(divide(share_, grid, world.rank(), shell_thickness)),
      traced_(traced) {
  // No put can arrive before this: all ranks commit an exchange together, and later.
  for (const Window<float>& pressure : pressure_) kernel_.fill(pressure.data());
}

double Solver::now_us() const { return world_.now().count() * 1e6; }

float Solver::at(const Extents& cell) const {
  return pressure_[static_cast<std::size_t>(current_)][kernel_.index(
      cell[0] - share_[0].begin, cell[1] - share_[1].begin, cell[2] - share_[2].begin)];
}

double Solver::timed_sweep(const char* name, std::span<const Box> boxes, Phases& phases) {
  const float* const p = pressure_[static_cast<std::size_t>(current_)].data();
  float* const next = pressure_[static_cast<std::size_t>(1 - current_)].data();
  const std::chrono::duration<double> begin = world_.now();
  double sum = 0;
  for (const Box& box : boxes) sum += kernel_.sweep(p, next, box);
  const double cells = cells_in(boxes);
  world_.compute(cells * bytes_per_cell, cells * flops_per_cell);
  const std::chrono::duration<double> end = world_.now();
  phases.compute_us += (end - begin).count() * 1e6;
  if (traced_) world_.trace_span(name, begin, end);
  return sum;
}

Phases Solver::iterate(Exchange& exchange, bool overlap) {
  Phases phases;
  const int next = 1 - current_;
  double sum =
      overlap ? timed_sweep("shell", parts_.shell, phases) : timed_sweep("sweep", {&whole_, 1}, phases);

  const double started = now_us();
  exchange.start(next);
  phases.start_us = now_us() - started;

  if (overlap) sum += timed_sweep("core", {&parts_.core, 1}, phases);

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
