#include "bfs/cli/solve.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <numeric>
#include <optional>
#include <vector>

#include "bfs/exchange.hpp"
#include "bfs/generator.hpp"
#include "bfs/graph.hpp"
#include "bfs/measure.hpp"
#include "bfs/roots.hpp"
#include "bfs/search.hpp"
#include "bfs/validator.hpp"
#include "boot/bring_up.hpp"
#include "cli/output/progress.hpp"
#include "measure/placement.hpp"
#include "model/machine/machine.hpp"
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

}  // namespace

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
  const auto direct = bfs::direct_exchange(world, search->sendings());
  const auto mpi = options.compare ? bfs::mpi_exchange(world, search->sendings()) : nullptr;
  std::vector<bfs::Exchange*> exchanges{direct.get()};
  if (mpi) exchanges.push_back(mpi.get());
  std::optional<bfs::Validator> validator;
  if (options.validate) validator.emplace(world, partition, edges);
  const std::vector<bfs::Vertex> roots = bfs::sample_roots(problem, graph, options.roots);

  const bool is_modelled = options.fabric == "sim";
  report.connected = count(graph.connected);
  report.world = world.describe();
  report.placement = is_modelled ? "" : bench::placement(world);
  report.processors = is_modelled ? 0 : bench::processors_of(bench::places(world));
  report.fabric = options.fabric;
  report.model = is_modelled ? net::read_machine(boot::machine_name(options.machine)).title : "";
  report.explain = direct->explain();
  report.mpi = apps::mpi_version();
  report.ranks = world.size();
  report.results =
      bfs::measure(world, graph, *search, exchanges, roots, validator ? &*validator : nullptr, progress);
  return report;
}

}  // namespace tca::tool
