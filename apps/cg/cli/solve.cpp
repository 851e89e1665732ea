#include "cg/cli/solve.hpp"

#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "cg/exchange.hpp"
#include "cg/measure.hpp"
#include "cg/partition.hpp"
#include "cg/solver.hpp"
#include "cli/options/extents.hpp"
#include "cli/output/progress.hpp"
#include "shared/mpi_session.hpp"

namespace tca::tool {
namespace {

cg::Plan plan_for(const CgOptions& options) {
  cg::Plan plan{.order = options.order == "merged" ? cg::Order::merged : cg::Order::npb,
                .runs = options.runs};
  if (options.runs == 0 && options.fabric == "sim") plan.runs = 1;  // all runs are alike
  return plan;
}

// Returns how many elements the matrix has, all blocks together.
std::int64_t elements(World& world, const cg::Solver& solver) {
  const cg::Share& share = solver.share();
  const std::int64_t own = solver.matrix().nonzeros();
  const std::vector<std::int64_t> all = world.all_gather(share.rows.size > 0 ? own : 0);
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

// Returns what the ranks together send in an inner iteration, beside scalars.
std::int64_t bytes_sent(World& world, const cg::Share& share) {
  std::int64_t own = 0;
  for (const cg::Message message : {cg::Message::gather, cg::Message::spmv, cg::Message::transpose})
    own += cg::bytes_of(message, share, world.size());
  const std::vector<std::int64_t> all = world.all_gather(own);
  return std::accumulate(all.begin(), all.end(), std::int64_t{0});
}

std::vector<ExplainedMessage> explain(const cg::Exchange& exchange, const cg::Share& share) {
  std::vector<ExplainedMessage> all;
  for (const cg::Message message : cg::messages)
    if (cg::is_sent(message, share))
      all.push_back({std::string(cg::name_of(message)), exchange.explain(message)});
  return all;
}

// Returns every combination of the channels of the messages that a rank sends to others. Collective.
std::vector<apps::Channels> all_combinations(World& world, const cg::Share& share,
                                             const apps::Channels& forced) {
  std::vector<SweptMessage> swept;
  for (const cg::Message message : cg::messages)
    if (cg::is_sent(message, share))
      swept.push_back({cg::name_of(message), cg::bytes_of(message, share, world.size())});
  return combinations(world, swept, forced);
}

}  // namespace

Grid make_cg_grid(const CgOptions& options, const cg::Problem& problem, int ranks) {
  const Grid grid(ranks,
                  options.grid == "auto" ? std::vector<int>{ranks, 1} : parse_grid(options.grid, 2, ranks));
  cg::check_grid(problem, grid);
  return grid;
}

std::vector<std::string_view> cg_messages(const cg::Problem& problem, const Grid& grid) {
  std::vector<std::string_view> names;
  for (const cg::Message message : cg::messages)
    if (cg::is_sent(message, cg::share_of(problem, grid, 0))) names.push_back(cg::name_of(message));
  return names;
}

CgReport solve_cg(World& world, const CgOptions& options) {
  const cg::Problem& problem = cg::problem_named(options.name);
  const Grid grid = make_cg_grid(options, problem, world.size());
  const apps::Channels forced(options.channels, cg_messages(problem, grid));
  Bars bars;
  const cg::Progress progress = bars.shown_by(world.rank());
  cg::Solver solver(world, problem, grid, progress);
  const cg::Share& share = solver.share();
  CgReport report{.problem = problem,
                  .nonzeros = elements(world, solver),
                  .grid = grid.describe(),
                  .order = options.order,
                  .job = describe_job(world, options),
                  .mpi = apps::mpi_version(),
                  .bytes = bytes_sent(world, share)};
  if (options.sweep_channels) report.channels = all_combinations(world, share, forced);

  std::vector<std::unique_ptr<cg::Exchange>> exchanges;
  exchanges.push_back(cg::direct_exchange(world, share, solver.vectors(), forced));
  report.explained = explain(*exchanges.front(), share);
  for (const apps::Channels& channels : report.channels)
    exchanges.push_back(cg::direct_exchange(world, share, solver.vectors(), channels));
  if (options.compare)
    if (auto mpi = cg::mpi_exchange(world, share, solver.vectors())) exchanges.push_back(std::move(mpi));
  std::vector<cg::Exchange*> ways;
  for (const auto& exchange : exchanges) ways.push_back(exchange.get());
  report.results = cg::measure(world, solver, ways, plan_for(options), progress);
  return report;
}

}  // namespace tca::tool
