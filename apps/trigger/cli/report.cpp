#include "trigger/cli/report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "trigger/socket.hpp"

namespace tca::tool {
namespace {

using trigger::in_words;
using trigger::Summary;
using trigger::Verdict;

// The resolution up to which rings are promised to be found.
constexpr double promised_resolution = 0.01;

double share(std::uint64_t part, std::uint64_t all) {
  return all == 0 ? 100 : 100 * static_cast<double>(part) / static_cast<double>(all);
}

std::string plural(std::uint64_t number, const std::string& what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

// What to do about datagrams that the operating system has dropped.
std::string advice(const Summary& summary) {
  if (summary.buffer_bytes >= trigger::wanted_buffer) return "lower --rate, or give more --ranks";
  return fmt::format(
      "the system lets a socket keep {} KiB; `sysctl -w net.core.rmem_max={}` lets it keep more, or lower "
      "--rate",
      summary.buffer_bytes / 1024, trigger::wanted_buffer);
}

std::string fault_of_datagrams(const Summary& summary) {
  if (!summary.lost.empty())
    return fmt::format("{} lost that nobody dropped on purpose: {}; {}",
                       plural(summary.lost.size(), "datagram"), in_words(summary.lost), advice(summary));
  if (!summary.overrun.empty())
    return fmt::format("the ring was full when {} came: {}; give more --slots, or lower --rate",
                       plural(summary.overrun.size(), "datagram"), in_words(summary.overrun));
  if (!summary.unanswered.empty())
    return fmt::format("{} got no answer: {}", plural(summary.unanswered.size(), "datagram"),
                       in_words(summary.unanswered));
  if (summary.again > 0) return plural(summary.again, "event") + " answered more than once";
  if (summary.wrong > 0)
    return plural(summary.wrong, "answer") + " for another event, or unlike that to the same hits before";
  return "";
}

// Chance is given five standard errors.
std::string fault_of_rings(const Verdict& verdict) {
  for (std::size_t rings = 0; rings < verdict.by_rings.size(); ++rings) {
    const Verdict::Events& events = verdict.by_rings[rings];
    const double all = static_cast<double>(events.all), least = trigger::least_efficiency;
    if (static_cast<double>(events.right) + 5 * std::sqrt(all * least * (1 - least)) < least * all)
      return fmt::format("of events with {} only {:.2f} % are right, less than {:.0f} %",
                         plural(rings, "ring"), share(events.right, events.all), 100 * least);
  }
  for (const auto& [name, pulls] : {std::pair{"x", verdict.x}, {"y", verdict.y}, {"radius", verdict.r}})
    if (!pulls.are_good())
      return fmt::format("pulls of {} have mean {:.4f} and width {:.4f}, not 0 and 1", name, pulls.mean(),
                         pulls.width());
  return "";
}

}  // namespace

std::string TriggerReport::fault() const {
  const Summary& own = ways.front().summary;
  if (std::string fault = fault_of_datagrams(own); !fault.empty()) return fault;
  if (run.physics.resolution <= promised_resolution)
    if (std::string fault = fault_of_rings(own.verdict); !fault.empty()) return fault;
  if (holds_deadline && !own.late.empty())
    return fmt::format("{} answered later than {:g} us: {}", plural(own.late.size(), "datagram"), deadline_us,
                       in_words(own.late));
  return "";
}

namespace {

void print_datagrams(const TriggerReport& report) {
  const Summary& own = report.ways.front().summary;
  fmt::print("answered  {}, each once, of {} in {:.2f} s ({:.0f} events/s, {:.1f} MB/s)\n",
             plural(own.answered, "event"), plural(own.came, "datagram"), own.seconds,
             own.seconds > 0 ? static_cast<double>(own.answered) / own.seconds : 0,
             own.seconds > 0 ? static_cast<double>(own.bytes) / own.seconds / 1e6 : 0);
  const auto line = [](const char* what, const std::vector<std::uint64_t>& numbers) {
    fmt::print("{:<10}{}{}\n", what, plural(numbers.size(), "datagram"),
               numbers.empty() ? "" : ": " + in_words(numbers));
  };
  line("dropped", own.dropped);
  line("lost", own.lost);
  line("overrun", own.overrun);
  line("late", own.late);
  fmt::print("order     {} behind a later one, {} twice, {} of others\n", plural(own.reordered, "datagram"),
             own.duplicates, own.foreign);
}

void print_rings(const Verdict& verdict) {
  fmt::print("\n{:<10}{:>12}{:>12}{:>16}{:>16}\n", "rings", "events", "right %", "rings found %",
             "false rings");
  for (std::size_t rings = 0; rings < verdict.by_rings.size(); ++rings) {
    const Verdict::Events& events = verdict.by_rings[rings];
    if (events.all == 0) continue;
    fmt::print("{:<10}{:>12}{:>12.2f}{:>16.2f}{:>16}\n", rings, events.all, share(events.right, events.all),
               share(events.found_rings, events.true_rings), events.false_rings);
  }
  if (verdict.r.number == 0) return;
  fmt::print("pulls of {} alone: x {:+.4f} +- {:.4f}, y {:+.4f} +- {:.4f}, radius {:+.4f} +- {:.4f}\n",
             plural(verdict.r.number, "ring"), verdict.x.mean(), verdict.x.width(), verdict.y.mean(),
             verdict.y.width(), verdict.r.mean(), verdict.r.width());
}

void print_latencies(const TriggerReport& report) {
  fmt::print("\n{:<12}{:<8}{:>12}{:>12}{:>12}{:>12}{:>12}{:>10}\n", "latency us", "start", "p50", "p99",
             "p99.9", "most", "late", "lost");
  for (const TriggerWay& way : report.ways) {
    const trigger::Histogram& latency = way.summary.latency;
    fmt::print("{:<12}{:<8}{:>12.1f}{:>12.1f}{:>12.1f}{:>12.1f}{:>12}{:>10}\n", way.name, way.start,
               latency.us_at(50), latency.us_at(99), latency.us_at(99.9), latency.us_at(100),
               way.summary.late.size(), way.summary.lost.size() + way.summary.overrun.size());
  }
  fmt::print(
      "From a datagram's sending to the answer to its events, which counts once for each; late: datagrams, "
      "after {:g} us.\n",
      report.deadline_us);
}

std::string gathered(const trigger::Gather& gather) {
  if (gather.events == 1) return "at once";
  const std::string time = fmt::format("after {:g} us", gather.us);
  return gather.events > 1'000'000 ? time : fmt::format("by {}, or {}", gather.events, time);
}

}  // namespace

void print(const TriggerReport& report) {
  const trigger::Run& run = report.run;
  const trigger::Physics& physics = run.physics;
  fmt::print("Trigger: {} in datagrams of {}, {:g} a second, {}{} rings and {} of noise each, {}\n",
             plural(run.events, "event"), run.batch, run.rate, physics.fewest_rings,
             physics.most_rings > physics.fewest_rings ? fmt::format(" to {}", physics.most_rings) : "",
             plural(static_cast<std::uint64_t>(physics.noise), "hit"),
             plural(static_cast<std::uint64_t>(report.job.ranks), "rank"));
  if (!report.gpus.empty()) fmt::print("GPUs      {}\n", report.gpus);
  print_job(report.job, "");
  fmt::print("receive   {} by UDP, {} KiB of buffer, a ring of {} slots; events are gathered {}\n",
             plural(static_cast<std::uint64_t>(report.job.ranks), "link"),
             report.ways.front().summary.buffer_bytes / 1024, report.slots, gathered(report.gather));
  print_datagrams(report);
  const std::string fault = report.fault();
  fmt::print("answer    {}\n", fault.empty()
                                   ? "right: every event that came is answered once, and its rings are found"
                                   : "WRONG: " + fault);
  print_rings(report.ways.front().summary.verdict);
  print_latencies(report);
  print_crowding(report.job);
}

}  // namespace tca::tool
