#include "cg/measure.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "shared/gathered.hpp"
#include "shared/median.hpp"

namespace tca::cg {

namespace {

using apps::Gathered;
using apps::median;

// What takes turns, and its progress so far.
struct Course {
  World& world;
  Solver& solver;
  const Plan& plan;
  std::span<Exchange* const> exchanges;
  const Progress& progress;
  double elapsed_seconds = 0;
  int runs = 0;  // that are over

  // Until every way has run as often as it must, the bar shows that; and then the time.
  void report(int step) const {
    if (!progress) return;
    constexpr double thousandths = 1e3;
    const int must = std::max(plan.runs, 1) * static_cast<int>(exchanges.size());
    const double done =
        runs < must ? runs + static_cast<double>(step) / solver.problem().steps : elapsed_seconds;
    const double total = runs < must ? must : plan.seconds;
    progress("solving", static_cast<std::int64_t>(thousandths * done),
             static_cast<std::int64_t>(thousandths * total));
  }
};

void run(Course& course, Exchange& exchange, Result& result) {
  World& world = course.world;
  const Problem& problem = course.solver.problem();
  course.solver.restart();
  world.barrier();
  const double begin = world.now().count();
  std::vector<double> steps;
  Step last;
  for (int step = 1; step <= problem.steps; ++step) {
    const double start = world.now().count();
    last = course.solver.step(exchange, course.plan.order);
    steps.push_back((world.now().count() - start) * 1e6 / inner_iterations);
    course.report(step);
  }
  last = world.all_gather(last)[0];
  const auto error = [&](const Step& of) { return Verification{of.zeta, problem.zeta}.error(); };
  const bool is_worse = std::isnan(last.zeta) || error(last) > error(result.last);  // false where that is NaN
  if (result.seconds.empty() || is_worse) result.last = last;
  result.seconds.push_back(Gathered(world, {world.now().count() - begin}).largest()[0]);
  const std::vector<double> slowest = Gathered(world, steps).largest();
  result.samples_us.insert(result.samples_us.end(), slowest.begin(), slowest.end());
  result.runs_us.push_back(median(slowest));
  course.elapsed_seconds += result.seconds.back();
  ++course.runs;
}

// Solves a few more steps and times each message, which would disturb the benchmark's own times.
std::vector<apps::MessageCost> time_messages(Course& course, Exchange& exchange) {
  constexpr int most = 5;
  const int steps = std::min(most, course.solver.problem().steps);
  MessageTimes times;
  for (int step = 0; step < steps; ++step) course.solver.step(exchange, course.plan.order, &times);
  const Share& share = course.solver.share();
  std::vector<apps::MessageCost> costs;
  for (const Message message : messages) {
    if (course.world.size() == 1 || !is_sent(message, share)) continue;
    costs.push_back(apps::cost_of(course.world, name_of(message),
                                  bytes_of(message, share, course.world.size()),
                                  times[static_cast<std::size_t>(message)], steps * inner_iterations));
    // A step has one product more than iterations, and two sums or three besides theirs.
    costs.back().count = std::floor(costs.back().count);
  }
  return costs;
}

}  // namespace

double Verification::error() const { return std::abs(zeta - published) / published; }

double Result::mops(const Problem& problem) const { return problem.flops() / median(seconds) * 1e-6; }

std::vector<Result> measure(World& world, Solver& solver, std::span<Exchange* const> exchanges,
                            const Plan& plan, const Progress& progress) {
  Course course{world, solver, plan, exchanges, progress};
  std::vector<Result> results(exchanges.size());
  for (Exchange* const exchange : exchanges) {
    solver.restart();
    solver.step(*exchange, plan.order);
  }
  for (int turn = 0; plan.runs > 0 ? turn < plan.runs : turn == 0 || course.elapsed_seconds < plan.seconds;
       ++turn)
    for (std::size_t which = 0; which < exchanges.size(); ++which)
      run(course, *exchanges[which], results[which]);
  for (std::size_t which = 0; which < exchanges.size(); ++which)
    results[which].messages = time_messages(course, *exchanges[which]);
  return results;
}

}  // namespace tca::cg
