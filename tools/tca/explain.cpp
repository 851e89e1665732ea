// `tca explain`: shows which channel the route chooses for one put, and by which costs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cli/launch/launch.hpp"
#include "cli/launch/rank_job.hpp"
#include "cli/options/bytes.hpp"
#include "cli/options/mpi_options.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/refuse.hpp"
#include "cli/subcommand.hpp"
#include "core/world/world_state.hpp"
#include "put_exchange.hpp"
#include "route/choose.hpp"
#include "tca/error.hpp"
#include "tca/world.hpp"
#include "tune/grid.hpp"

namespace tca::tool {
namespace {

// More bytes than any memory holds, yet few enough to calculate with.
constexpr std::int64_t most_bytes = std::int64_t{1} << 48;

struct ExplainOptions {
  int ranks = 2;
  bool ranks_given = false;
  int to = 1;
  std::size_t puts = 1;
  std::string fabric, machine, channel;
  bench::PutShape shape{8, 1, 0};
  Binding bind = {};
};

void check(const ExplainOptions& options, int ranks) {
  if (options.to < 0 || options.to >= ranks)
    refuse("--to {}: there are the ranks 0 to {}", options.to, ranks - 1);
  check_machine(options.fabric, options.machine);
  check_built(options.fabric);
  check_bind(options.bind, options.fabric, false);
  const bench::PutShape& shape = options.shape;
  if (shape.runs > 1 && shape.pitch == 0)
    refuse("--runs {}: --pitch says how far apart they begin", shape.runs);
  if (shape.runs == 1 && shape.pitch > 0)
    refuse("--pitch {}: there is a single row, with none after it; --runs says how many", shape.pitch);
  if (shape.runs > 1 && shape.pitch < shape.run)
    refuse("--pitch {}: runs of {} bytes must begin at least as far apart", shape.pitch, shape.run);
  if (static_cast<double>(shape.runs) * static_cast<double>(std::max(shape.run, shape.pitch)) >
      static_cast<double>(most_bytes))
    refuse("--runs {}: that is more than {} bytes from end to end", shape.runs, most_bytes);
}

std::string where(const World& world, const ExplainOptions& options) {
  const core::WorldState& state = core::WorldState::of(world);
  if (options.to == 0) return "to itself";
  const fabric::Fabric& front = *state.fabrics().front();
  const std::string crossing =
      front.pricing().cache_line_transfer_ns() > 0
          ? fmt::format(", a line crosses in {:.0f} ns", front.pricing().cache_line_transfer_ns())
          : std::string();
  return fmt::format("to rank {} ({}{})", options.to,
                     route::to_string(state.costs().distance_to(front, options.to)), crossing);
}

std::string why_chosen(const route::Candidate& chosen, const std::vector<route::Candidate>& all,
                       const std::string& channel) {
  if (!channel.empty()) return fmt::format("chosen: forced to channel '{}'", channel);
  const bool beaten = std::any_of(all.begin(), all.end(), [&](const route::Candidate& other) {
    return other.has_room && other.predicted_us && other.predicted_us < chosen.predicted_us;
  });
  return beaten ? "chosen: the cheapest, or as good" : "chosen: the cheapest";
}

// Returns the channel that the put takes.
std::string print(const World& world, const ExplainOptions& options) {
  const core::WorldState& state = core::WorldState::of(world);
  const route::Put put{options.to, shape_of(options.shape), options.puts};
  const base::Shape& shape = put.shape;
  const std::string channel = route::effective_override(options.channel);
  const route::Choice chosen = route::choose(state.fabrics(), state.costs(), put, channel);
  std::string layout = route::describe(shape);
  if (shape.loop_count > 0)
    layout += fmt::format(", {} apart ({})", options.shape.pitch, route::to_string(route::spacing(shape)));
  fmt::print("{} bytes, {}, from rank 0 {}\n", shape.bytes(), layout, where(world, options));
  const std::string& path = state.costs().path();
  fmt::print("costs by {}{}\n", state.costs().origin(), path.empty() ? "" : ", " + path);
  const std::vector<route::Candidate> all = route::candidates(state.fabrics(), state.costs(), put, {});
  for (const route::Candidate& c : all) {
    const bool taken = c.choice.fabric == chosen.fabric && c.choice.protocol == chosen.protocol;
    fmt::print("  {:<18}{:>14}   {}\n", c.channel,
               c.predicted_us ? fmt::format("{:.3f} us", *c.predicted_us) : "not known",
               taken        ? why_chosen(c, all, channel)
               : c.has_room ? ""
                            : "no room for one more");
  }
  const route::Explained why = route::explain(state.fabrics(), state.costs(), put, chosen, channel);
  fmt::print("rank 0 takes {}, predicted {} ({})\n", why.channel, why.predicted, why.reason);
  return why.channel;
}

// Prints the signals of a chain that puts over a channel, whatever the size. Collective.
void print_signals(World& world, int to, const std::string& channel) {
  const auto window = world.window<std::byte>(16, "tca explain");
  Chain chain = world.chain("tca explain", {.channel = channel});
  if (world.rank() == 0) chain.put(window.on(to).at(8), window.at(0), block(8));
  if (world.rank() == to) chain.expect(0);
  chain.commit();
  if (world.rank() != 0) return;
  const std::string all = chain.explain();
  fmt::print("a chain of such puts\n{}", all.substr(all.find("  tells ")));
}

// Rank 0's errors, such as a channel that does not exist, are thrown on all ranks and reported once.
void print_or_refuse(World& world, const ExplainOptions& options) {
  const auto taken = core::WorldState::of(world).control().make_together("tca explain", [&] {
    return base::Writer().put_string(world.rank() == 0 ? print(world, options) : "").blob();
  });
  print_signals(world, options.to, base::Reader(taken.front()).get_string());
}

int explain(const ExplainOptions& options) {
  const WorldOptions world_options{.fabric = options.fabric, .machine = options.machine};
  if (!already_a_rank()) {
    check(options, options.ranks);
    if (options.fabric == "sim") {
      World::run_threads(
          options.ranks, [&](World& world) { print_or_refuse(world, options); }, world_options);
      return 0;
    }
    const LaunchOptions job{.name = "tca explain",
                            .ranks = options.ranks,
                            .argv = own_command_line(),
                            .argv_is_tca = true,
                            .bind = options.bind};
    return is_over_mpi(options.fabric) ? launch_under_mpirun(job) : launch(job);
  }
  const auto check_all = [&](int ranks) {
    check_launched(ranks, options.ranks_given ? options.ranks : ranks, false);
    check(options, ranks);
  };
  return run_as_one_rank(world_options, check_all, [&](World& world) {
    print_or_refuse(world, options);
    return 0;
  });
}

}  // namespace

void add_explain(Subcommands& tca) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App& app = tca.add("explain", "Says which channel a put would take here, and what each would cost",
                          "tca explain --run 64K\n"
                          "tca explain --run 8 --runs 4096 --pitch 512\n"
                          "tca explain --run 512 --runs 64 --pitch 2048 --ranks 4 --to 3\n"
                          "tca explain --run 64K --ranks 4 --sub-cluster 2 --to 3",
                          [options] { return explain(*options); });
  takes_bytes(
      app.add_option("--run", options->shape.run, "Contiguous bytes in each row, or in the whole block"), 1,
      most_bytes)
      ->capture_default_str();
  app.add_option("--runs", options->shape.runs, "Number of rows")
      ->check(between(std::int64_t{1}, most_bytes))
      ->capture_default_str();
  takes_bytes(
      app.add_option("--pitch", options->shape.pitch, "Distance from the start of one row to the next"), 0,
      most_bytes);
  add_ranks_option(app, "Number of ranks in the world", options->ranks, options->ranks_given);
  app.add_option("--to", options->to, "Rank that rank 0 puts to")->capture_default_str();
  app.add_option("--puts", options->puts, "Number of puts to the same rank in the chain")
      ->check(between(1, 65536))
      ->capture_default_str();
  app.add_option("--channel", options->channel, "Channel to force, such as staged or mpi/packed");
  app.add_option("--fabric", options->fabric, "What carries the bytes; shm when not given")
      ->envname("OPENTCA_FABRIC")
      ->check(any_fabric());
  add_sub_cluster_option(app, options->fabric);
  app.add_option("--machine", options->machine,
                 "Machine to model on sim: the name or the path of a machine file")
      ->envname("OPENTCA_MACHINE");
  add_bind_option(app, options->bind);
}

}  // namespace tca::tool
