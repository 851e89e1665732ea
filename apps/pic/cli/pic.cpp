// `tca pic`: electromagnetic particle-in-cell on ranks that write straight into each other's memory, checked by its physics
// and, if asked, timed against MPI in the same job.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>

#include "cli/options/memory.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "pic/cli/drawings.hpp"
#include "pic/cli/report.hpp"
#include "pic/cli/solve.hpp"
#include "pic/deck.hpp"
#include "pic/exchange.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

// What a particle takes with its spare place in sorting, and a cell with fields, flow and charges.
constexpr double bytes_a_particle = 80, bytes_a_cell = 100;

// Refuses everything that can be wrong, once, before any rank begins.
void check_plasma(const PicOptions& options, int ranks) {
  const pic::Deck deck = pic_deck(options);
  const bool says_start = pic_start(options) != apps::Start::automatic;
  if (says_start && !on_gpus(options)) refuse("--start {} is for GPUs: --fabric cuda", options.start);
  make_pic_grid(options, deck, ranks);
  if (options.compare && deck.steps == 1) refuse("--compare needs at least 2 steps, one for each side");
  check_messages(options, pic::messages, ranks);
  PicDrawings::check(options.drawings);
  double cells = 1;
  for (const std::int64_t extent : deck.extents) cells *= static_cast<double>(extent);
  check_memory(fmt::format("deck {} of {} cells", deck.name, pic::describe(deck.extents)),
               static_cast<double>(deck.particles()) * bytes_a_particle + cells * bytes_a_cell,
               boot::needs_mpi(options.fabric) ? ranks : 1);
}

int run_plasma(World& world, const PicOptions& options) {
  PicDrawings drawings(world, pic_deck(options), options.drawings);
  const PicReport report = solve_pic(world, options, drawings);
  if (world.rank() == 0) {
    print(report, options);
    if (options.explain) fmt::print("\n{}", joined(report.explained));
    keep(report, options);
  }
  const int drawn = drawings.draw(report.run);
  return report.fault().empty() ? drawn : 1;
}

int pic_command(const PicOptions& options) {
  return run_as_ranks(
      "tca pic", options, {.fabric = options.fabric, .machine = options.machine},
      [&](int ranks) { check_plasma(options, ranks); },
      [&](World& world) { return run_plasma(world, options); });
}

}  // namespace

void add_pic(Subcommands& tca) {
  auto options = std::make_shared<PicOptions>();
  CLI::App& app = tca.add("pic", "Simulates a plasma by particle-in-cell on several ranks",
                          "tca pic --ranks 2\n"
                          "tca pic --deck two-stream --ranks 2\n"
                          "tca pic --deck langmuir --extent 32x32x32 --ranks 2 --compare\n"
                          "tca pic --deck wakefield --ranks 2 --plot pictures\n"
                          "tca pic --deck my.toml --ranks 4 --json results.jsonl\n"
                          "tca pic --ranks 2 --fabric sim --machine quong",
                          [options] { return pic_command(*options); });
  add_rank_options(app, *options);
  app.add_option("--deck", options->deck,
                 fmt::format("What is simulated: {}, or a file that says so, whose name ends in .toml",
                             fmt::join(pic::built_in_decks, ", ")))
      ->type_name("DECK")
      ->capture_default_str();
  app.add_option("--extent", options->extent,
                 "Cells instead of the deck's: two numbers (y, x), or three (z, y, x)");
  app.add_option("--steps", options->steps, "Number of steps instead of the deck's")
      ->check(between(std::int64_t{1}, std::int64_t{1'000'000'000}));
  app.add_option("--grid", options->grid,
                 "Number of ranks along y and x, or z, y and x, such as 1x2; auto chooses")
      ->capture_default_str();
  app.add_flag("--fast", options->fast,
               "Add up currents as floating-point numbers: faster, but rounded in another order on another "
               "number of ranks");
  app.add_option(
         "--check-every", options->check_every,
         "Hold fields and charges against Gauss's law after every so many steps, and the last; is not timed")
      ->check(between(std::int64_t{1}, std::int64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option(
         "--start", options->start,
         "On GPUs: how steps are started, by the host, as a CUDA graph each, or by a kernel that takes many")
      ->check(one_of({"auto", "host", "graph", "kernel"}))
      ->capture_default_str();
  app.add_flag("--compare", options->compare,
               "Measure the same over MPI too, or on GPUs over NCCL, in the same job");
  app.add_option("--plot", options->drawings,
                 "Draw the history, frames and a spectrum of the plasma into this folder, as SVG")
      ->type_name("DIR");
  add_message_options(app, *options);
  add_json_option(app, *options);
}

}  // namespace tca::tool
