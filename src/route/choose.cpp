#include "route/choose.hpp"

#include <algorithm>
#include <limits>

#include "base/fail.hpp"
#include "base/system/environment.hpp"

namespace tca::route {

namespace {

using Fabrics = std::span<const std::unique_ptr<fabric::Fabric>>;

bool matches(const std::string& override_name, std::string_view fabric, std::string_view protocol) {
  return override_name.empty() || override_name == fabric || override_name == protocol ||
         override_name == fmt::format("{}/{}", fabric, protocol);
}

// Channels without a predicted cost are last. The first of them is chosen if there are no others.
double rank_by(const Candidate& candidate) {
  return candidate.predicted_us.value_or(std::numeric_limits<double>::max());
}

// The factor within which predicted costs count as equal, if a measured table decides. The first such
// channel is chosen: protocols that move bytes once are listed before those that move them twice, and leave
// more of the caches to the program.
double as_good_as_equal(const Costs& costs) { return costs.path().empty() ? 1 : 1.05; }

std::string_view forced_by_environment() {
  const char* const forced = base::set_variable("OPENTCA_CHANNEL");
  return forced != nullptr ? forced : "";
}

// Names an override together with its origin: an override that a job script has left in the environment
// appears in no program.
std::string name_of(const std::string& override_name) {
  if (override_name == forced_by_environment())
    return fmt::format("{}={}", base::name_set("OPENTCA_CHANNEL"), override_name);
  return fmt::format("channel '{}'", override_name);
}

}  // namespace

std::string effective_override(const std::string& asked) {
  const std::string_view forced = forced_by_environment();
  return forced.empty() ? asked : std::string(forced);
}

std::vector<Candidate> candidates(Fabrics fabrics, const Costs& costs, const Put& put,
                                  const std::string& override_name, const Taken& taken) {
  std::vector<Candidate> all;
  for (std::size_t f = 0; f < fabrics.size(); ++f) {
    const fabric::Fabric& fabric = *fabrics[f];
    if (!fabric.reaches(put.target)) continue;
    const auto protocols = fabric.protocols();
    for (std::size_t p = 0; p < protocols.size(); ++p) {
      if (!matches(override_name, fabric.name(), protocols[p])) continue;
      if (!fabric.carries(static_cast<int>(p), put.target)) continue;
      if (put.counted && !fabric.carries_counted(static_cast<int>(p))) continue;
      if (put.by_some && !fabric.serves_groups(static_cast<int>(p))) continue;
      if (put.is_lost && put.is_lost(f, p)) continue;
      all.push_back({{static_cast<int>(f), static_cast<int>(p)},
                     fmt::format("{}/{}", fabric.name(), protocols[p]),
                     costs.predict_us(fabric, p, put.target, put.shape, put.puts),
                     fabric.pricing().accepts(static_cast<int>(p), put.shape,
                                              taken.on(fabric, static_cast<int>(p), put.target))});
    }
  }
  return all;
}

Choice choose(Fabrics fabrics, const Costs& costs, const Put& put, const std::string& override_name,
              const Taken& taken) {
  const std::vector<Candidate> all = candidates(fabrics, costs, put, override_name, taken);
  if (all.empty()) {
    const char* const verb = put.counted ? "carry counted puts to" : "reach";
    std::string known;
    for (const Candidate& c : candidates(fabrics, costs, put, {}))
      known += (known.empty() ? "" : ", ") + c.channel;
    if (known.empty() && put.is_lost) {
      base::fail(Errc::invalid_argument, "no channel leads to rank {} any more", put.target);
    }
    if (known.empty() && put.counted) {
      base::fail(
          Errc::invalid_argument,
          "no channel carries counted puts to rank {}; put as much as may come and the length beside it, or "
          "use the fabrics shm, mpi or sim",
          put.target);
    }
    base::fail(Errc::invalid_argument, "{} is none of the channels that {} rank {}, which are {}",
               name_of(override_name), verb, put.target, known);
  }
  const auto eligible = [&](const Candidate& candidate) {
    return candidate.has_room || !override_name.empty();
  };
  double least = std::numeric_limits<double>::infinity();
  for (const Candidate& candidate : all)
    if (eligible(candidate)) least = std::min(least, rank_by(candidate));
  const double most = as_good_as_equal(costs) * least;
  const auto chosen = std::find_if(all.begin(), all.end(), [&](const Candidate& candidate) {
    return eligible(candidate) && rank_by(candidate) <= most;
  });
  return (chosen != all.end() ? *chosen : all.front()).choice;
}

std::string describe(const base::Shape& shape) {
  if (shape.loop_count == 0) return "block";
  std::string counts;
  for (std::size_t i = shape.loop_count; i-- > 0;)
    counts += fmt::format("{}{}", shape.loops[i].count, i > 0 ? " x " : "");
  return fmt::format("{} runs of {} bytes", counts, shape.run);
}

Explained explain(Fabrics fabrics, const Costs& costs, const Put& put, Choice chosen,
                  const std::string& override_name) {
  Explained why{.channel = {}, .predicted = "not known", .reason = {}};
  std::string next;
  double chosen_us = 0, next_us = std::numeric_limits<double>::max();
  for (const Candidate& c : candidates(fabrics, costs, put, {})) {
    if (c.choice.fabric == chosen.fabric && c.choice.protocol == chosen.protocol) {
      why.channel = c.channel;
      chosen_us = c.predicted_us.value_or(0);
      if (c.predicted_us) why.predicted = fmt::format("{:.2f} us", chosen_us);
    } else if (c.predicted_us && *c.predicted_us < next_us) {
      next_us = *c.predicted_us;
      next = fmt::format("{} {:.2f} us", c.channel, next_us);
    }
  }
  why.reason = "next best " + next;
  if (next_us < chosen_us)
    why.reason = (chosen_us <= as_good_as_equal(costs) * next_us ? "as good as " : "no room for ") + next;
  if (next.empty()) why.reason = "the only channel";
  if (!override_name.empty()) why.reason = fmt::format("forced to channel '{}'", override_name);
  return why;
}

}  // namespace tca::route
