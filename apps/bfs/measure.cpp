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
  Search& search;
  std::span<const Vertex> roots;
  Validator* validator;
};

void run(const Course& course, Exchange& exchange, std::size_t which, Result& result) {
  World& world = course.world;
  const Vertex root = course.roots[which];
  world.barrier();
  const double begin = world.now().count();
  const int levels = course.search.run(root, exchange);
  const double us = (world.now().count() - begin) * 1e6;
  result.samples_us.push_back(Gathered(world, {us}).largest()[0]);
  result.levels.push_back(levels);
  const std::span<const Vertex> parents = course.search.parents();
  result.edges.push_back(edges_traversed(world, course.graph, parents));
  if (!course.validator) return;
  const std::optional<Fault> fault = course.validator->check(root, parents, result.edges.back());
  if (!fault) return;
  ++result.failures;
  if (!result.first) result.first = Failure{root, *fault};
}

// Searches a few times more and times each message, which would disturb the benchmark's own times.
std::vector<apps::MessageCost> time_messages(const Course& course, Exchange& exchange) {
  constexpr std::size_t most = 8;
  if (course.world.size() == 1) return {};
  const std::size_t searches = std::min(most, course.roots.size());
  MessageTimes times;
  for (std::size_t which = 0; which < searches; ++which) {
    course.world.barrier();
    course.search.run(course.roots[which], exchange, &times);
  }
  std::vector<apps::MessageCost> costs;
  for (const Message message : messages) {
    const std::span<const Sending> sendings = course.search.sendings();
    const auto sending = std::ranges::find(sendings, message, &Sending::message);
    if (sending == sendings.end()) continue;
    costs.push_back(apps::cost_of(course.world, name_of(message), sending->bytes(),
                                  times[static_cast<std::size_t>(message)], static_cast<double>(searches)));
  }
  return costs;
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

std::vector<Result> measure(World& world, const Graph& graph, Search& search,
                            std::span<Exchange* const> exchanges, std::span<const Vertex> roots,
                            Validator* validator, const Progress& progress) {
  const Course course{world, graph, search, roots, validator};
  std::vector<Result> results(exchanges.size());
  for (Exchange* const exchange : exchanges) {
    world.barrier();
    search.run(roots.front(), *exchange);
  }
  for (std::size_t which = 0; which < roots.size(); ++which) {
    for (std::size_t way = 0; way < exchanges.size(); ++way)
      run(course, *exchanges[way], which, results[way]);
    if (progress)
      progress("searching", static_cast<std::int64_t>(which) + 1, static_cast<std::int64_t>(roots.size()));
  }
  for (std::size_t way = 0; way < exchanges.size(); ++way)
    results[way].messages = time_messages(course, *exchanges[way]);
  return results;
}

}  // namespace tca::bfs
