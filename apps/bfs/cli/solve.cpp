#include "bfs/cli/solve.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "bfs/graph/generator.hpp"
#include "bfs/graph/graph.hpp"
#include "bfs/graph/roots.hpp"
#include "bfs/measure.hpp"
#include "bfs/messages/exchange.hpp"
#include "bfs/search.hpp"
#include "bfs/validator.hpp"
#include "cli/output/progress.hpp"
#include "shared/mpi_session.hpp"

namespace tca::tool {
namespace {

// Collective. Returns what `make` returns, and how long that took the slowest rank.
template <class Make>
auto timed(World& world, double& seconds, const Make& make) {
  world.barrier();
  const double begin = world.now().count();
  auto made = make();
  seconds = std::ranges::max(world.all_gather(world.now().count() - begin));
  return made;
}

std::int64_t count(const std::vector<std::uint64_t>& bits) {
  return std::accumulate(bits.begin(), bits.end(), std::int64_t{0},
                         [](std::int64_t sum, std::uint64_t word) { return sum + std::popcount(word); });
}

// Collective.
std::vector<ExplainedMessage> explain(World& world, const bfs::Exchange& exchange) {
  std::vector<ExplainedMessage> all;
  for (const bfs::Message message : bfs::messages)
    if (const std::string text = explained_by_sender(world, exchange.explain(message)); !text.empty())
      all.push_back({std::string(bfs::name_of(message)), text});
  return all;
}

// Returns every combination of the messages' channels. Collective.
std::vector<apps::Channels> all_combinations(World& world, std::span<const bfs::Sending> sendings,
                                             const apps::Channels& forced) {
  std::vector<SweptMessage> swept;
  for (const bfs::Message message : bfs::messages) {
    const auto sending = std::ranges::find(sendings, message, &bfs::Sending::message);
    if (sending != sendings.end()) swept.push_back({bfs::name_of(message), sending->bytes()});
  }
  return combinations(world, swept, forced);
}

}  // namespace

std::vector<std::string_view> bfs_messages(const std::string& style) {
  std::vector<std::string_view> names;
  for (const bfs::Message message : bfs::messages)
    if (style == "paper" || message == bfs::Message::out) names.push_back(bfs::name_of(message));
  return names;
}

BfsReport solve_bfs(World& world, const BfsOptions& options) {
  const bfs::Problem problem{.scale = options.scale};
  const bfs::Partition partition(problem, world.size());
  Bars bars;
  const bfs::Progress progress = bars.shown_by(world.rank());
  BfsReport report{.problem = problem, .style = options.style, .validated = options.validate};
  const auto numbers = bfs::edges_of(problem, world.rank(), world.size());
  const auto edges =
      timed(world, report.generation_seconds, [&] { return bfs::make_edges(problem, numbers, progress); });
  const auto graph = timed(world, report.construction_seconds,
                           [&] { return bfs::make_graph(world, partition, edges, progress); });

  const auto style = options.style == "packed" ? bfs::Style::packed : bfs::Style::paper;
  const auto search = bfs::make_search(world, graph, style);
  const apps::Channels forced(options.channels, bfs_messages(options.style));
  if (options.sweep_channels) report.channels = all_combinations(world, search->sendings(), forced);
  std::vector<std::unique_ptr<bfs::Exchange>> exchanges;
  exchanges.push_back(bfs::direct_exchange(world, search->sendings(), forced));
  report.explained = explain(world, *exchanges.front());
  for (const apps::Channels& channels : report.channels)
    exchanges.push_back(bfs::direct_exchange(world, search->sendings(), channels));
  if (options.compare)
    if (auto mpi = bfs::mpi_exchange(world, search->sendings())) exchanges.push_back(std::move(mpi));
  std::vector<std::unique_ptr<bfs::Way>> ways;
  for (const auto& exchange : exchanges) ways.push_back(bfs::host_way(world, *search, *exchange));
  std::optional<bfs::Validator> validator;
  if (options.validate) validator.emplace(world, partition, edges);
  const std::vector<bfs::Vertex> roots = bfs::sample_roots(problem, graph, options.roots);

  report.connected = count(graph.connected);
  report.job = describe_job(world, options);
  report.mpi = apps::mpi_version();
  report.results =
      bfs::measure(world, graph, *search, ways, roots, validator ? &*validator : nullptr, progress);
  return report;
}

}  // namespace tca::tool
