#include "route/choose.hpp"

#include <cstdlib>
#include <limits>

#include "base/fail.hpp"

namespace tca::route {

namespace {

using Fabrics = std::span<const std::unique_ptr<fabric::Fabric>>;

bool matches(const std::string& override_name, std::string_view fabric, std::string_view protocol) {
  return override_name.empty() || override_name == fabric || override_name == protocol ||
         override_name == fmt::format("{}/{}", fabric, protocol);
}

// A channel without a cost is taken only when there is no other, the first one then.
double rank_by(const Candidate& candidate) {
  return candidate.predicted_us.value_or(std::numeric_limits<double>::max());
}

}  // namespace

std::string effective_override(const std::string& asked) {
  const char* forced = std::getenv("OPENTCA_ROUTE");
  return forced != nullptr && *forced != '\0' ? forced : asked;
}

std::vector<Candidate> candidates(Fabrics fabrics, const Costs& costs, int target, const base::Shape& shape,
                                  const std::string& override_name, const Taken& taken) {
  std::vector<Candidate> all;
  for (std::size_t f = 0; f < fabrics.size(); ++f) {
    const fabric::Fabric& fabric = *fabrics[f];
    if (!fabric.reaches(target)) continue;
    const auto protocols = fabric.protocols();
    for (std::size_t p = 0; p < protocols.size(); ++p) {
      if (!matches(override_name, fabric.name(), protocols[p])) continue;
      if (!fabric.carries(static_cast<int>(p), target)) continue;
      all.push_back({{static_cast<int>(f), static_cast<int>(p)},
                     fmt::format("{}/{}", fabric.name(), protocols[p]),
                     costs.predict_us(fabric, p, target, shape),
                     fabric.accepts(static_cast<int>(p), shape, taken.on(fabric, static_cast<int>(p)))});
    }
  }
  return all;
}

Choice choose(Fabrics fabrics, const Costs& costs, int target, const base::Shape& shape,
              const std::string& override_name, const Taken& taken) {
  const std::vector<Candidate> all = candidates(fabrics, costs, target, shape, override_name, taken);
  if (all.empty()) {
    std::string known;
    for (const Candidate& c : candidates(fabrics, costs, target, shape, {}))
      known += (known.empty() ? "" : ", ") + c.channel;
    base::fail(Errc::invalid_argument, "route '{}' names no channel that reaches rank {}; there are {}",
               override_name, target, known);
  }
  const Candidate* best = nullptr;
  for (const Candidate& candidate : all) {
    if (override_name.empty() && !candidate.has_room) continue;
    if (best == nullptr || rank_by(candidate) < rank_by(*best)) best = &candidate;
  }
  return (best != nullptr ? *best : all.front()).choice;
}

std::string describe(const base::Shape& shape) {
  if (shape.loop_count == 0) return "block";
  std::string counts;
  for (std::size_t i = shape.loop_count; i-- > 0;)
    counts += fmt::format("{}{}", shape.loops[i].count, i > 0 ? " x " : "");
  return fmt::format("{} runs of {} bytes", counts, shape.run);
}

std::string explain(Fabrics fabrics, const Costs& costs, int target, const base::Shape& shape, Choice chosen,
                    const std::string& override_name) {
  std::string channel, predicted = "no prediction", next;
  double chosen_us = 0, next_us = std::numeric_limits<double>::max();
  for (const Candidate& c : candidates(fabrics, costs, target, shape, {})) {
    if (c.choice.fabric == chosen.fabric && c.choice.protocol == chosen.protocol) {
      channel = c.channel;
      chosen_us = c.predicted_us.value_or(0);
      if (c.predicted_us) predicted = fmt::format("predicted {:.2f} us", chosen_us);
    } else if (c.predicted_us && *c.predicted_us < next_us) {
      next_us = *c.predicted_us;
      next = fmt::format("{} {:.2f} us", c.channel, next_us);
    }
  }
  std::string reason = next_us < chosen_us ? "no room for " + next : "next best " + next;
  if (next.empty()) reason = "the only channel";
  if (!override_name.empty()) reason = fmt::format("forced by route '{}'", override_name);
  return fmt::format("{}, {} ({})", channel, predicted, reason);
}

}  // namespace tca::route
