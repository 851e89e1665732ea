#include "bfs/cli/solve.hpp"

#include <fmt/format.h>

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
#include "bfs/way.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/progress.hpp"
#include "shared/mpi_session.hpp"
#include "shared/workers.hpp"
#ifdef OPENTCA_BFS_ON_GPUS
#include "bfs/gpu/exchange.hpp"
#include "bfs/gpu/graph.hpp"
#include "bfs/gpu/way.hpp"
#include "gpu/machine.hpp"
#include "shared/nccl_communicator.hpp"
#endif

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

bfs::Style style_named(const std::string& name) {
  return name == "packed" ? bfs::Style::packed : bfs::Style::paper;
}

// Collective. `sender` is an exchange, or a way.
template <class Sender>
std::vector<ExplainedMessage> explain(World& world, const Sender& sender) {
  std::vector<ExplainedMessage> all;
  for (const bfs::Message message : bfs::messages)
    if (const std::string text = explained_by_sender(world, sender.explain(message)); !text.empty())
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

// What searching on hosts and searching on GPUs have in common.
struct Job {
  World& world;
  const BfsOptions& options;
  const bfs::Problem& problem;
  const bfs::Progress& progress;
};

// The list of edges, and the graph made of it.
struct Made {
  std::vector<bfs::Edge> edges;
  bfs::Graph graph;
};

// Collective.
Made make(const Job& job, BfsReport& report) {
  World& world = job.world;
  const bfs::Partition partition(job.problem, world.size());
  const auto numbers = bfs::edges_of(job.problem, world.rank(), world.size());
  const auto workers = apps::Workers::for_each_of(world.size());
  auto edges = timed(world, report.generation_seconds,
                     [&] { return bfs::make_edges(job.problem, numbers, job.progress, workers); });
  auto graph = timed(world, report.construction_seconds,
                     [&] { return bfs::make_graph(world, partition, edges, job.progress, workers); });
  report.connected = count(graph.connected);
  return {std::move(edges), std::move(graph)};
}

// Collective.
void measure(const Job& job, const Made& made, std::span<bfs::Way* const> ways, BfsReport& report) {
  std::optional<bfs::Validator> validator;
  if (job.options.validate) validator.emplace(job.world, made.graph.partition, made.edges);
  const std::vector<bfs::Vertex> roots = bfs::sample_roots(job.problem, made.graph, job.options.roots);
  report.results =
      bfs::measure(job.world, made.graph, ways, roots, validator ? &*validator : nullptr, job.progress);
}

std::vector<bfs::Way*> pointers(const std::vector<std::unique_ptr<bfs::Way>>& ways) {
  std::vector<bfs::Way*> all;
  for (const auto& way : ways) all.push_back(way.get());
  return all;
}

void search_on_hosts(const Job& job, BfsReport& report) {
  auto& [world, options, problem, progress] = job;
  const Made made = make(job, report);
  const auto search = bfs::make_search(world, made.graph, style_named(options.style));
  const apps::Channels forced(options.channels, bfs_messages(options.style));
  if (options.sweep_channels) report.channels = all_combinations(world, search->sendings(), forced);
  std::vector<std::unique_ptr<bfs::Exchange>> exchanges;
  exchanges.push_back(bfs::direct_exchange(world, search->sendings(), forced));
  for (const apps::Channels& channels : report.channels)
    exchanges.push_back(bfs::direct_exchange(world, search->sendings(), channels));
  if (options.compare)
    if (auto mpi = bfs::mpi_exchange(world, search->sendings())) exchanges.push_back(std::move(mpi));
  std::vector<std::unique_ptr<bfs::Way>> ways;
  for (const auto& exchange : exchanges) ways.push_back(bfs::host_way(world, *search, *exchange));
  report.peer = {"MPI", apps::mpi_version()};
  measure(job, made, pointers(ways), report);
  report.explained = explain(world, *exchanges.front());  // with what messages took, where chains are timed
}

#ifdef OPENTCA_BFS_ON_GPUS
// What a rank sends behind a level: its part of the frontier's bitmap.
std::int64_t bytes_of_level(const Made& made) {
  return made.graph.partition.words() * static_cast<std::int64_t>(sizeof(std::uint64_t));
}

// What a kernel sends by itself is timed where the host starts it. Collective.
void time_messages_by_host(const Job& job, const bfs::GpuGraph& graph, BfsReport& report) {
  constexpr int searches = 8;
  const auto way = bfs::step_way(job.world, graph, bfs::direct_gpu_exchange, bfs::Start::host);
  report.results.front().messages = way->time_messages(
      bfs::sample_roots(job.problem, graph.on_host(), std::min(searches, job.options.roots)));
  report.messages_by_host = true;
}

// NCCL's levels are a CUDA graph however OpenTCA's are started, since NCCL is fastest that way.
void search_on_gpus(const Job& job, BfsReport& report) {
  auto& [world, options, problem, progress] = job;
  const auto style = style_named(options.style);
  bfs::check_gpus(world, problem, style);
  const Made made = make(job, report);
  const bfs::GpuGraph graph(world, made.graph);
  bfs::Start start = apps::start_named(options.start, bfs::starts);
  const apps::Channels forced(options.channels, bfs_messages(options.style));
  const bool by_channels = options.sweep_channels || !options.channels.empty();
  if (start == bfs::Start::automatic)
    start = by_channels ? bfs::Start::graph : bfs::chosen_start(world, style);
  std::vector<std::unique_ptr<bfs::Way>> ways;
  auto own = bfs::make_way(world, graph, style, start, forced);
  report.explained = explain(world, *own);
  ways.push_back(std::move(own));
  if (options.sweep_channels)
    report.channels = combinations(world, {{bfs::name_of(bfs::Message::out), bytes_of_level(made)}}, forced);
  for (const apps::Channels& channels : report.channels)
    ways.push_back(bfs::step_way(world, graph, bfs::direct_gpu_exchange, start, channels));
  if (options.compare) {
    if (auto nccl = bfs::step_way(world, graph, bfs::nccl_exchange, bfs::Start::graph))
      ways.push_back(std::move(nccl));
    else if (world.rank() == 0)
      fmt::print(stderr, "tca bfs: built without NCCL, so there is nothing to compare with\n");
  }
  bench::gpu::describe_gpus(world, report);
  report.start = bfs::name_of(start);
  report.peer = {"NCCL", apps::nccl_version()};
  measure(job, made, pointers(ways), report);
  const bool by_one_kernel = start == bfs::Start::kernel || start == bfs::Start::resident;
  if (options.explain && by_one_kernel && world.size() > 1) time_messages_by_host(job, graph, report);
}
#else
void search_on_gpus(const Job& job, BfsReport&) {
  refuse("--fabric {}: this tca was built without CUDA", job.options.fabric);
}
#endif

}  // namespace

std::vector<std::string_view> bfs_messages(const std::string& style) {
  std::vector<std::string_view> names;
  for (const bfs::Message message : bfs::messages)
    if (style == "paper" || message == bfs::Message::out) names.push_back(bfs::name_of(message));
  return names;
}

BfsReport solve_bfs(World& world, const BfsOptions& options) {
  const bfs::Problem problem{.scale = options.scale};
  Bars bars;
  const bfs::Progress progress = bars.shown_by(world.rank());
  BfsReport report{.problem = problem, .style = options.style, .validated = options.validate};
  report.job = describe_job(world, options);
  const Job job{world, options, problem, progress};
  if (on_gpus(options)) {
    search_on_gpus(job, report);
  } else {
    search_on_hosts(job, report);
  }
  return report;
}

}  // namespace tca::tool
