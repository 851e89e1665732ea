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
  const Problem& problem;
  const Share& share;
  const Plan& plan;
  std::size_t ways;
  const Progress& progress;
  double elapsed_seconds = 0;
  int runs = 0;  // that are over

  // Until every way has run as often as it must, the bar shows that; and then the time.
  void report(int step) const {
    if (!progress) return;
    constexpr double thousandths = 1e3;
    const int must = std::max(plan.runs, 1) * static_cast<int>(ways);
    const double done = runs < must ? runs + static_cast<double>(step) / problem.steps : elapsed_seconds;
    const double total = runs < must ? must : plan.seconds;
    progress("solving", static_cast<std::int64_t>(thousandths * done),
             static_cast<std::int64_t>(thousandths * total));
  }
};

void run(Course& course, Way& way, Result& result) {
  World& world = course.world;
  const Problem& problem = course.problem;
  world.barrier();
  const double begin = world.now().count();
  std::vector<double> steps;
  Step last = way.run(problem.steps, steps, [&](int step) { course.report(step); });
  const double seconds = world.now().count() - begin;
  for (double& us : steps) us /= inner_iterations;
  last = world.all_gather(last)[0];
  const auto error = [&](const Step& of) { return Verification{of.zeta, problem.zeta}.error(); };
  const bool is_worse = std::isnan(last.zeta) || error(last) > error(result.last);  // false where that is NaN
  if (result.seconds.empty() || is_worse) result.last = last;
  result.seconds.push_back(Gathered(world, {seconds}).largest()[0]);
  const std::vector<double> slowest = Gathered(world, steps).largest();
  result.samples_us.insert(result.samples_us.end(), slowest.begin(), slowest.end());
  result.runs_us.push_back(median(slowest));
  course.elapsed_seconds += result.seconds.back();
  ++course.runs;
}

}  // namespace

double Verification::error() const { return std::abs(zeta - published) / published; }

double Result::mops(const Problem& problem) const { return problem.flops() / median(seconds) * 1e-6; }

std::vector<Result> measure(World& world, const Problem& problem, const Share& share,
                            std::span<Way* const> ways, const Plan& plan, const Progress& progress) {
  Course course{world, problem, share, plan, ways.size(), progress};
  std::vector<Result> results(ways.size());
  std::vector<double> untimed;
  for (Way* const way : ways) way->run(1, untimed);
  for (int turn = 0; plan.runs > 0 ? turn < plan.runs : turn == 0 || course.elapsed_seconds < plan.seconds;
       ++turn)
    for (std::size_t which = 0; which < ways.size(); ++which) run(course, *ways[which], results[which]);
  for (std::size_t which = 0; which < ways.size(); ++which)
    results[which].messages = time_messages(world, problem, share, *ways[which]);
  return results;
}

std::vector<apps::MessageCost> time_messages(World& world, const Problem& problem, const Share& share,
                                             Way& way) {
  constexpr int most = 5;
  const int steps = std::min(most, problem.steps);
  const MessageTimes times = way.time_messages(steps);
  std::vector<apps::MessageCost> costs;
  for (const Message message : messages) {
    const std::vector<double>& own = times[static_cast<std::size_t>(message)];
    if (world.size() == 1 || !is_sent(message, share) || own.empty()) continue;
    costs.push_back(apps::cost_of(world, name_of(message), bytes_of(message, share, world.size()), own,
                                  steps * inner_iterations));
    // A step has one product more than iterations, and two sums or three besides theirs.
    costs.back().count = std::floor(costs.back().count);
  }
  return costs;
}

}  // namespace tca::cg
