#include "trigger/cli/solve.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "cli/launch/launch.hpp"
#include "cli/options/refuse.hpp"
#include "trigger/detector/sender.hpp"
#include "trigger/gpu/answerers.hpp"
#include "trigger/peers/plain_loop.hpp"

#ifdef OPENTCA_TRIGGER_ON_GPUS
#include "gpu/machine.hpp"
#endif

namespace tca::tool {
namespace {

using trigger::Outcome;
using trigger::Summary;

// What a detector is told: its link, how many there are, the port, and the run's number.
std::string told(const trigger::Link& link, int port, std::uint32_t run) {
  return fmt::format("{}/{}:{}:{}", link.number, link.links, port, run);
}

std::vector<std::string> detector_arguments(const std::string& told) {
  std::vector<std::string> arguments = own_command_line();
  arguments.emplace_back("--as-detector");
  arguments.push_back(told);
  return arguments;
}

// Tells the datagrams of a run from those of another that was here before.
std::uint32_t number_of_run(World& world) {
  return static_cast<std::uint32_t>(getpid()) * 65599U +
         static_cast<std::uint32_t>(world.now().count() * 1e6);
}

// Runs over a rank's link, one after the other.
class Runs {
 public:
  Runs(World& world, const TriggerOptions& options)
      : world_(world),
        options_(options),
        run_(trigger_run(options)),
        link_{world.rank(), world.size()},
        socket_(options.port == 0 ? 0 : options.port + world.rank(), trigger::bytes_of_slot(run_.batch)),
        others_(world) {}

  // `how` is "host" or "kernel".
  TriggerWay answer(const std::string& name, const std::string& how) {
    trigger::SlotRing ring(world_, options_.slots, run_.batch);
    return {name, how, measured([&](const trigger::Station& station, trigger::DetectorProcess& detector) {
              const auto answerer = make_answerer(ring, how);
              return run_trigger(station, detector, ring, *answerer);
            })};
  }
  TriggerWay answer_plainly() { return {"plain loop", "host", measured(trigger::run_plain_loop)}; }
  const trigger::Run& run() const { return run_; }

 private:
  std::unique_ptr<trigger::Answerer> make_answerer([[maybe_unused]] trigger::SlotRing& ring,
                                                   [[maybe_unused]] const std::string& how) {
    const trigger::Gather gather = trigger_gather(options_);
    const auto resolution = static_cast<float>(run_.physics.resolution);
#ifdef OPENTCA_TRIGGER_ON_GPUS
    if (on_gpus(options_))
      return how == "kernel" ? resident_answerer(world_, ring, gather, resolution)
                             : launching_answerer(world_, ring, gather, resolution);
#endif
    return trigger::host_answerer(gather, resolution);
  }

  template <class Act>
  Summary measured(const Act& act) {
    run_.number = number_of_run(world_);
    trigger::DetectorProcess detector(detector_arguments(told(link_, socket_.port(), run_.number)));
    detector.wait_until_ready();
    world_.barrier();
    const Outcome outcome = act({run_, link_, options_.deadline_us, socket_, others_}, detector);
    others_.finish();
    return summed(world_, outcome, socket_.buffer_bytes());
  }

  World& world_;
  const TriggerOptions& options_;
  trigger::Run run_;
  trigger::Link link_;
  trigger::Socket socket_;
  trigger::Others others_;
};

// Collective. Kernels that are there all the time cannot take turns on a GPU, as those of processes would have to.
std::string start_of(World& world, const TriggerOptions& options) {
  if (!on_gpus(options)) return "host";
  const bool take_turns = world.ranks_share_devices() && !options.threads;
  if (take_turns && options.start == "kernel")
    refuse(
        "--start kernel: ranks that are processes share a GPU; give --threads, --start host, or a GPU to "
        "each");
  if (options.start == "auto") return take_turns ? "host" : "kernel";
  return options.start;
}

}  // namespace

trigger::Run trigger_run(const TriggerOptions& options) {
  trigger::Run run = options.run;
  const auto number = [&](std::string_view text) {
    int value = -1;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_read = error == std::errc() && rest == text.data() + text.size();
    if (!is_read || value < 0 || value > trigger::most_made_rings)
      refuse("--rings {}: give a number from 0 to {}, or two such as 0-3", options.rings,
             trigger::most_made_rings);
    return value;
  };
  const std::string_view text = options.rings;
  const std::size_t dash = text.find('-');
  run.physics.fewest_rings = number(text.substr(0, dash));
  run.physics.most_rings =
      dash == std::string_view::npos ? run.physics.fewest_rings : number(text.substr(dash + 1));
  if (run.physics.fewest_rings > run.physics.most_rings)
    refuse("--rings {}: the first number is the larger", text);
  return run;
}

trigger::Gather trigger_gather(const TriggerOptions& options) {
  trigger::Gather gather;
  if (options.gather > 0) gather.events = options.gather;
  if (options.gather_us > 0) gather.us = options.gather_us;
  // By time alone: whatever has come by then.
  if (options.gather == 0 && options.gather_us > 0) gather.events = std::numeric_limits<std::uint32_t>::max();
  return gather;
}

TriggerReport run_as_trigger(World& world, const TriggerOptions& options) {
  Runs runs(world, options);
  TriggerReport report{.run = runs.run(),
                       .gather = trigger_gather(options),
                       .slots = options.slots,
                       .deadline_us = options.deadline_us,
                       .holds_deadline = options.deadline_given,
                       .job = describe_job(world, options)};
#ifdef OPENTCA_TRIGGER_ON_GPUS
  if (on_gpus(options)) bench::gpu::describe_gpus(world, report);
#endif
  const std::string how = start_of(world, options);
  report.ways.push_back(runs.answer("OpenTCA", how));
  if (options.beside && how == "kernel") report.ways.push_back(runs.answer("launches", "host"));
  if (options.beside && how == "host") report.ways.push_back(runs.answer_plainly());
  return report;
}

int run_as_detector(const TriggerOptions& options) {
  trigger::Run run = trigger_run(options);
  trigger::Link link;
  int port = 0;
  if (std::sscanf(options.as_detector.c_str(), "%d/%d:%d:%u", &link.number, &link.links, &port,
                  &run.number) != 4)
    refuse("--as-detector {}: is for processes that `tca trigger` starts by itself", options.as_detector);
  return run_detector(run, link, port);
}

}  // namespace tca::tool
