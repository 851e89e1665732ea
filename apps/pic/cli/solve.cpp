#include "pic/cli/solve.hpp"

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cli/options/extents.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/progress.hpp"
#include "pic/cli/deck_file.hpp"
#include "pic/domain.hpp"
#include "pic/exchange.hpp"
#include "pic/measure.hpp"
#include "pic/physics.hpp"
#include "pic/solver.hpp"
#include "shared/mpi_session.hpp"

#ifdef OPENTCA_PIC_ON_GPUS
#include "gpu/machine.hpp"
#include "pic/gpu/solver.hpp"
#include "shared/nccl_communicator.hpp"
#endif

namespace tca::tool {
namespace {

// The exchanges take turns; the first one is OpenTCA's.
template <class Number>
void simulate_by(World& world, const PicOptions& options, pic::Solver<Number>& solver,
                 std::span<pic::Exchange* const> exchanges, PicReport& report, PicDrawings& drawings) {
  for (std::size_t m = 0; m < pic::messages.size(); ++m)
    report.explained.push_back({std::string(pic::messages[m]), exchanges.front()->explain(m)});
  Bars bars;
  std::function<void()> look;
  if (drawings.are_wanted()) look = [&] { drawings.look(solver); };
  report.run =
      pic::simulate(world, solver, exchanges, options.check_every, bars.shown_by(world.rank()), look);
}

template <class Number>
void simulate_on_hosts(World& world, const PicOptions& options, const Grid& grid, PicReport& report,
                       PicDrawings& drawings) {
  pic::Solver<Number> solver(world, report.deck, grid);
  std::vector<std::unique_ptr<pic::Exchange>> exchanges;
  exchanges.push_back(
      pic::direct_exchange(world, solver.exchanged(), apps::Channels(options.channels, pic::messages)));
  if (options.compare)
    if (auto mpi = pic::mpi_exchange(world, solver.exchanged())) exchanges.push_back(std::move(mpi));
  report.peer = {"MPI", apps::mpi_version()};
  std::vector<pic::Exchange*> pointers;
  for (const auto& exchange : exchanges) pointers.push_back(exchange.get());
  simulate_by<Number>(world, options, solver, pointers, report, drawings);
}

#ifdef OPENTCA_PIC_ON_GPUS
template <class Number>
void simulate_on_gpus(World& world, const PicOptions& options, const Grid& grid, PicReport& report,
                      PicDrawings& drawings) {
  const apps::Start start = pic_start(options);
  report.start = start == apps::Start::automatic ? "graph" : std::string(name_of(start));
  bench::gpu::describe_gpus(world, report);
  pic::GpuSolver<Number> solver(
      world, report.deck, grid,
      {.start = start, .channels = apps::Channels(options.channels, pic::messages)});
  pic::Exchange* const nccl = options.compare ? solver.nccl_peer() : nullptr;
  if (options.compare && nccl == nullptr && world.rank() == 0)
    fmt::print(stderr, "tca pic: built without NCCL, so there is nothing to compare with\n");
  report.peer = {"NCCL", apps::nccl_version()};
  std::vector<pic::Exchange*> exchanges{&solver.exchange()};
  if (nccl != nullptr) exchanges.push_back(nccl);
  simulate_by<Number>(world, options, solver, exchanges, report, drawings);
}
#endif

template <class Number>
void simulate_in(World& world, const PicOptions& options, const Grid& grid, PicReport& report,
                 PicDrawings& drawings) {
#ifdef OPENTCA_PIC_ON_GPUS
  if (on_gpus(options)) return simulate_on_gpus<Number>(world, options, grid, report, drawings);
#endif
  simulate_on_hosts<Number>(world, options, grid, report, drawings);
}

}  // namespace

apps::Start pic_start(const PicOptions& options) {
  return apps::start_named(options.start, apps::usual_starts);
}

pic::Deck pic_deck(const PicOptions& options) {
  pic::Extents extents;
  if (!options.extent.empty()) {
    const auto given = parse_extents("--extent", options.extent);
    if (!given || (given->size() != 2 && given->size() != 3))
      refuse("--extent {}: give two numbers (y, x), or three such as 32x32x64 (z, y, x)", options.extent);
    extents = *given;
  }
  pic::Deck deck = read_deck(options.deck, extents);
  if (options.steps > 0) deck.steps = options.steps;
  return deck;
}

Grid make_pic_grid(const PicOptions& options, const pic::Deck& deck, int ranks) {
  const auto dims = static_cast<std::size_t>(deck.dims());
  return pic::make_grid(
      deck, ranks,
      options.grid == "auto" ? std::vector<int>(dims, 0) : parse_grid(options.grid, dims, ranks));
}

PicReport solve_pic(World& world, const PicOptions& options, PicDrawings& drawings) {
  PicReport report{.deck = pic_deck(options)};
  const Grid grid = make_pic_grid(options, report.deck, world.size());
  report.grid = grid.describe();
  report.is_fast = options.fast;
  report.job = describe_job(world, options);
  if (options.fast) {
    simulate_in<double>(world, options, grid, report, drawings);
  } else {
    simulate_in<std::int64_t>(world, options, grid, report, drawings);
  }
  report.wave = pic::wave_in(report.deck, report.run);
  return report;
}

}  // namespace tca::tool
