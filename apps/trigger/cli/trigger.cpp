// `tca trigger`: finds the rings in the events of a detector that sends them by UDP, answers every one of them in time, and
// names what was lost.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "cli/options/memory.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "cli/options/refuse.hpp"
#include "cli/output/plot.hpp"
#include "cli/subcommand.hpp"
#include "tca/world.hpp"
#include "trigger/cli/report.hpp"
#include "trigger/cli/solve.hpp"

namespace tca::tool {
namespace {

// Refuses everything that can be wrong, once, before any rank begins.
void check_trigger_job(const TriggerOptions& options, int ranks) {
  if (options.fabric != "shm" && options.fabric != "cuda")
    refuse("--fabric {}: datagrams are answered on hosts (shm) and on GPUs (cuda)", options.fabric);
  if (options.start == "kernel" && !on_gpus(options)) refuse("--start kernel needs --fabric cuda");
  const trigger::Run run = trigger_run(options);
  const auto waiting = static_cast<std::uint64_t>(options.slots) * run.batch;
  if (options.gather > waiting / 2)
    refuse("--gather {}: a ring of {} slots has room for {} events, of which half may wait", options.gather,
           options.slots, waiting);
  if (static_cast<std::uint64_t>(ranks) > run.datagrams())
    refuse("--events {}: {} datagrams of {} events are fewer than the {} ranks", run.events, run.datagrams(),
           run.batch, ranks);
  if (options.port != 0 && options.port + ranks - 1 > 65535)
    refuse("--port {}: each of {} ranks has one, up to 65535", options.port, ranks);
  check_distinct({{"--json", options.json}, {"--plot", options.plot}, {"--histogram", options.histogram}});
  check_writable(options.json);
  check_drawable(options.plot);
  check_replaceable(options.histogram);
  constexpr double in_processes = 1000;  // bytes of a distinct event, in its detector and in its rank
  const double distinct = static_cast<double>(std::min(run.events, trigger::distinct_events));
  check_memory(
      fmt::format("{} slots of {} events", options.slots, run.batch),
      static_cast<double>(ranks) * options.slots * static_cast<double>(trigger::bytes_of_slot(run.batch)) +
          in_processes * distinct + static_cast<double>(run.events),
      1);
}

int run_rank(World& world, const TriggerOptions& options) {
  const TriggerReport report = run_as_trigger(world, options);
  const std::string fault = report.fault();
  if (world.rank() == 0) {
    print(report);
    keep(report, options);
    keep_histogram(report, options.histogram);
  }
  return fault.empty() ? 0 : 1;
}

int trigger_command(const TriggerOptions& options) {
  if (!options.as_detector.empty()) return run_as_detector(options);
  return run_as_ranks(
      "tca trigger", options, {.fabric = options.fabric, .machine = options.machine},
      [&](int ranks) { check_trigger_job(options, ranks); },
      [&](World& world) { return run_rank(world, options); });
}

void add_detector_options(CLI::App& app, TriggerOptions& options) {
  trigger::Run& run = options.run;
  app.add_option("--events", run.events, "Number of events")
      ->check(between(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--rate", run.rate, "Events a second, of all links together")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--batch", run.batch, "Events of a datagram")
      ->check(between(std::uint32_t{1}, trigger::most_events))
      ->capture_default_str();
  app.add_option("--rings", options.rings, "Rings of an event: a number, or a range such as 0-3")
      ->capture_default_str();
  app.add_option("--noise", run.physics.noise, "Hits of an event that belong to no ring")
      ->check(between(0, trigger::most_noise))
      ->capture_default_str();
  app.add_option("--resolution", run.physics.resolution, "Error of a hit along x and along y, in radii")
      ->check(between(0.0001, 0.05))
      ->capture_default_str();
  app.add_option("--seed", run.physics.seed, "Seed of the events and of what is done to datagrams")
      ->capture_default_str();
  app.add_option("--loss", run.faults.loss, "Share of datagrams that the detector drops")
      ->check(between(0.0, 0.9))
      ->capture_default_str();
  app.add_option("--reorder", run.faults.reorder, "Share of datagrams that it sends after the next one")
      ->check(between(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--duplicate", run.faults.duplicate, "Share of datagrams that it sends twice")
      ->check(between(0.0, 1.0))
      ->capture_default_str();
  app.add_option("--as-detector", options.as_detector)->group("");  // for the processes that it starts
}

}  // namespace

void add_trigger(Subcommands& tca) {
  auto options = std::make_shared<TriggerOptions>();
  CLI::App& app = tca.add("trigger", "Finds rings in the events that a detector sends by UDP, in time",
                          "tca trigger --events 20000\n"
                          "tca trigger --events 20000 --loss 0.01 --reorder 0.01 --duplicate 0.01\n"
                          "tca trigger --events 100000 --rings 1 --compare --plot latency.svg\n"
                          "tca trigger --fabric cuda --ranks 2 --events 10000000 --rate 1e6 --batch 64",
                          [options] { return trigger_command(*options); });
  add_rank_options(app, *options);
  options->ranks = 1;
  app.get_option("--ranks")->capture_default_str();
  add_detector_options(app, *options);
  app.add_option(
         "--start", options->start,
         "On GPUs, who has events looked at: the host launches a kernel for each batch (host), or a kernel "
         "is there all the time and watches the ring (kernel); auto is the kernel on GPUs and the host on "
         "hosts")
      ->check(one_of({"auto", "host", "kernel"}))
      ->capture_default_str();
  app.add_option("--slots", options->slots, "Datagrams for which a rank's ring has room")
      ->check(between(trigger::fewest_slots, trigger::most_slots))
      ->capture_default_str();
  app.add_option("--port", options->port,
                 "UDP port of rank 0 on 127.0.0.1, of the next rank the next; 0 takes free ones")
      ->check(between(0, 65535))
      ->capture_default_str();
  app.add_option(
         "--gather", options->gather,
         "Begin when as many events wait, or, for as long as --gather-time says, fewer; 1 when not given")
      ->check(between(std::uint32_t{1}, std::uint32_t{1'000'000}));
  app.add_option(
         "--gather-time", options->gather_us,
         "Begin when the first event has waited so many microseconds; 50 when --gather alone is given")
      ->check(between(0.1, 1e6));
  app.add_option(
         "--deadline", options->deadline_us,
         "Microseconds from an event's sending to its answer; where it is given, a miss fails the run")
      ->check(above_zero())
      ->each([options](const std::string&) { options->deadline_given = true; })
      ->capture_default_str();
  app.add_flag("--compare", options->beside,
               "Answer the same by a plain loop of recv() too, on GPUs with a kernel launch for each batch");
  app.add_option("--histogram", options->histogram,
                 "Write the latencies' percentiles, as HdrHistogram prints them, to this file")
      ->type_name("FILE");
  app.add_option("--plot", options->plot, "Draw the latencies into this file, .svg, .png or .pdf")
      ->type_name("FILE");
  add_json_option(app, *options);
}

}  // namespace tca::tool
