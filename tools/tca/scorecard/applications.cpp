// Whole applications of two ranks on fabric sim, with the messages of the publication on PEACH3 (kaneda17), and what
// lattice QCD needs of a network (vicini13).
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "bfs/graph/generator.hpp"
#include "bfs/graph/graph.hpp"
#include "bfs/graph/roots.hpp"
#include "bfs/messages/exchange.hpp"
#include "bfs/search.hpp"
#include "cg/exchange.hpp"
#include "cg/problem.hpp"
#include "cg/solver.hpp"
#include "qcd/balance.hpp"
#include "scorecard/lab.hpp"
#include "shared/channels.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::tool {

namespace {

constexpr int ranks = 2;

// Every message over the hub, or over the machine's MPI library.
apps::Channels channels_of(const RunSettings& settings, std::initializer_list<std::string_view> messages) {
  apps::Channels channels;
  for (const std::string_view message : messages)
    channels.force(message, settings.scheme == "mpi" ? "sim/mpi" : "sim/tca");
  return channels;
}

// Returns what rank 0 returns.
double run_world(const RunSettings& settings, const std::function<double(World&)>& rank) {
  double us = 0;
  World::run_threads(ranks,
                     [&](World& world) {
                       const double own = rank(world);
                       if (world.rank() == 0) us = own;
                     },
                     {.fabric = "sim", .machine = settings.machine});
  return us;
}

}  // namespace

// Returns the time of an inner iteration in a step of NPB CG. All steps are alike.
double run_npb_cg(const net::Machine&, const RunSettings& settings) {
  return run_world(settings, [&](World& world) {
    cg::Solver solver(world, cg::problem_named(settings.size), Grid(ranks, {1, ranks}));
    const auto exchange = cg::direct_exchange(world, solver.share(), solver.vectors(),
                                              channels_of(settings, {"SPMV", "EXCH", "DOT"}));
    const double begin = world.now().count();
    solver.step(*exchange, cg::Order::npb);
    return (world.now().count() - begin) * 1e6 / cg::inner_iterations;
  });
}

// Returns the mean time of a few searches of Graph500, from below.
double run_graph500_bfs(const net::Machine&, const RunSettings& settings) {
  constexpr int searches = 8;
  return run_world(settings, [&](World& world) {
    const bfs::Problem problem{.scale = static_cast<int>(settings.scale)};
    const bfs::Partition partition(problem, ranks);
    const auto edges = bfs::make_edges(problem, bfs::edges_of(problem, world.rank(), ranks));
    const bfs::Graph graph = bfs::make_graph(world, partition, edges);
    const auto search = bfs::paper_search(world, graph);
    const auto exchange =
        bfs::direct_exchange(world, search->sendings(), channels_of(settings, {"OUT", "FLAG", "TREE"}));
    const std::vector<bfs::Vertex> roots = bfs::sample_roots(problem, graph, searches);
    double us = 0;
    for (const bfs::Vertex root : roots) {
      world.barrier();
      const double begin = world.now().count();
      search->run(root, *exchange);
      us += (world.now().count() - begin) * 1e6;
    }
    return us / static_cast<double>(roots.size());
  });
}

// Returns the GB/s that a node's network needs, by counts alone; no machine is simulated.
double run_qcd_balance(const net::Machine&, const RunSettings& settings) {
  const auto extents = [](const std::vector<std::int64_t>& numbers) {
    qcd::Extents extents;
    std::ranges::copy(numbers, extents.begin());
    return extents;
  };
  return qcd::balance_of(extents(settings.lattice), extents(settings.domain),
                         static_cast<int>(settings.ranks), settings.gflops, sizeof(float))
      .gb_per_s();
}

}  // namespace tca::tool
