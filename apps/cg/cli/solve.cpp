#include "cg/cli/solve.hpp"

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "boot/bring_up.hpp"
#include "cg/exchange.hpp"
#include "cg/measure.hpp"
#include "cg/partition.hpp"
#include "cg/solver.hpp"
#include "cli/options/extents.hpp"
#include "cli/output/progress.hpp"
#include "measure/placement.hpp"
#include "model/machine/machine.hpp"
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

// Returns the most that a rank sends in each message.
std::vector<std::int64_t> message_bytes(World& world, const cg::Share& share,
                                        const std::vector<cg::MessageCost>& costs) {
  std::vector<std::int64_t> most;
  for (const cg::MessageCost& cost : costs)
    most.push_back(std::ranges::max(world.all_gather(cg::bytes_of(cost.message, share, world.size()))));
  return most;
}

}  // namespace

Grid make_cg_grid(const CgOptions& options, const cg::Problem& problem, int ranks) {
  const Grid grid(ranks,
                  options.grid == "auto" ? std::vector<int>{ranks, 1} : parse_grid(options.grid, 2, ranks));
  cg::check_grid(problem, grid);
  return grid;
}

CgReport solve_cg(World& world, const CgOptions& options) {
  const cg::Problem& problem = cg::problem_named(options.name);
  const Grid grid = make_cg_grid(options, problem, world.size());
  Bars bars;
  const cg::Progress progress = bars.shown_by(world.rank());
  const bool is_modelled = options.fabric == "sim";
  cg::Solver solver(world, problem, grid, progress);
  const auto direct = cg::direct_exchange(world, solver.share(), solver.vectors());
  const auto mpi = options.compare ? cg::mpi_exchange(world, solver.share(), solver.vectors()) : nullptr;
  std::vector<cg::Exchange*> exchanges{direct.get()};
  if (mpi) exchanges.push_back(mpi.get());
  CgReport report{.problem = problem,
                  .nonzeros = elements(world, solver),
                  .grid = grid.describe(),
                  .order = options.order,
                  .world = world.describe(),
                  .placement = is_modelled ? "" : bench::placement(world),
                  .processors = is_modelled ? 0 : bench::processors_of(bench::places(world)),
                  .fabric = options.fabric,
                  .model = is_modelled ? net::read_machine(boot::machine_name(options.machine)).title : "",
                  .explain = direct->explain(),
                  .mpi = apps::mpi_version(),
                  .ranks = world.size(),
                  .bytes = bytes_sent(world, solver.share()),
                  .results = cg::measure(world, solver, exchanges, plan_for(options), progress)};
  report.message_bytes = message_bytes(world, solver.share(), report.results.front().messages);
  return report;
}

}  // namespace tca::tool
