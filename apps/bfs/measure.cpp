#include "bfs/measure.hpp"

#include <algorithm>
#include <numeric>

#include "shared/gathered.hpp"

namespace tca::bfs {

namespace {

using apps::Gathered;

struct Course {
  World& world;
  const Graph& graph;
  std::span<const Vertex> roots;
  Validator* validator;
  bool alone;  // whether nothing else computes between the searches of a way
};

void run(const Course& course, Way& way, std::size_t which, Result& result) {
  World& world = course.world;
  const Vertex root = course.roots[which];
  way.prepare();
  world.barrier();
  const double begin = world.now().count();
  const int levels = way.run(root);
  const double us = (world.now().count() - begin) * 1e6;
  const std::vector<double> slowest = Gathered(world, {us, way.kernel_us()}).largest();
  result.samples_us.push_back(slowest[0]);
  if (slowest[1] > 0) result.kernel_us.push_back(slowest[1]);
  result.levels.push_back(levels);
  result.level_times.push_back(way.level_times());
  if (!course.alone) way.leave();
  const std::span<const Vertex> parents = way.parents();
  result.edges.push_back(edges_traversed(world, course.graph, parents));
  if (!course.validator) return;
  const std::optional<Fault> fault = course.validator->check(root, parents, result.edges.back());
  if (!fault) return;
  ++result.failures;
  if (!result.first) result.first = Failure{root, *fault};
}

// Searches a few times more, because timing each message would disturb the benchmark's own times.
std::vector<apps::MessageCost> time_messages(const Course& course, Way& way) {
  constexpr std::size_t most = 8;
  if (course.world.size() == 1) return {};
  return way.time_messages(course.roots.first(std::min(most, course.roots.size())));
}

}  // namespace

std::vector<double> Result::teps() const {
  std::vector<double> all;
  for (std::size_t which = 0; which < edges.size(); ++which)
    all.push_back(static_cast<double>(edges[which]) / samples_us[which] * 1e6);
  return all;
}

double Result::harmonic_mean() const {
  const std::vector<double> all = teps();
  const double inverses =
      std::transform_reduce(all.begin(), all.end(), 0.0, std::plus<>(), [](double one) { return 1 / one; });
  return static_cast<double>(all.size()) / inverses;
}

std::vector<Result> measure(World& world, const Graph& graph, std::span<Way* const> ways,
                            std::span<const Vertex> roots, Validator* validator, const Progress& progress) {
  const Course course{world, graph, roots, validator, ways.size() == 1 && validator == nullptr};
  std::vector<Result> results(ways.size());
  for (Way* const way : ways) {
    way->prepare();
    world.barrier();
    way->run(roots.front());
    way->leave();
  }
  for (std::size_t which = 0; which < roots.size(); ++which) {
    for (std::size_t way = 0; way < ways.size(); ++way) run(course, *ways[way], which, results[way]);
    if (progress)
      progress("searching", static_cast<std::int64_t>(which) + 1, static_cast<std::int64_t>(roots.size()));
  }
  for (Way* const way : ways) way->leave();
  for (std::size_t way = 0; way < ways.size(); ++way)
    results[way].messages = time_messages(course, *ways[way]);
  return results;
}

}  // namespace tca::bfs
