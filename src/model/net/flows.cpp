// Trains as flows: they share links that cannot serve all of them at full speed.
#include <algorithm>
#include <unordered_set>

#include "model/net/shares.hpp"
#include "model/net/trains.hpp"

namespace tca::net {

using des::Time;

// Returns whether the flows on a link need more than all of its time.
bool Trains::short_of(LinkId link) const {
  return claims_.taken(link, [this](const Claim& claim) { return !trains_[claim.train].drained(); }) > whole;
}

// Recomputes speeds when a flow starts or leaves. It concerns the flows that share scarce links with this
// one, the flows that share scarce links with those, and so on. Fairness is measured by the time that each
// flow takes of the link that it needs most. Among n flows each gets at least an n-th of that link, however
// little data it moves in that time.
void Trains::share_links(TrainId number, bool leaves) {
  bool enough = true;
  each_stage(number, [&](const Stage& stage) { enough = enough && !short_of(stage.link); });
  if (enough) return;
  std::vector<TrainId> sharing;
  std::vector<Flow> flows;
  const auto index_of = [&](TrainId found) {
    Train& train = trains_[found];
    if (train.index == UINT32_MAX) {
      train.index = static_cast<std::uint32_t>(sharing.size());
      sharing.push_back(found);
      flows.push_back({0, {}});
    }
    return train.index;
  };
  index_of(number);
  std::uint32_t links = 0;
  std::unordered_set<LinkId> seen;
  for (std::size_t i = 0; i < sharing.size(); ++i) {
    each_stage(sharing[i], [&](const Stage& stage) {
      if (!seen.insert(stage.link).second || !short_of(stage.link)) return;
      const auto takes = [this](const Claim& claim) { return !trains_[claim.train].drained(); };
      const bool turns = claims_.turns(stage.link, takes);
      for (const Claim& claim : claims_.on(stage.link)) {
        if (!takes(claim)) continue;
        Flow& flow = flows[index_of(claim.train)];
        // The requests and the data of a flow may both take this link.
        if (flow.demands.empty() || flow.demands.back().link != links) flow.demands.push_back({links, 0});
        Demand& demand = flow.demands.back();
        demand.share += claim.share + (turns ? claim.collision : 0);
        flow.rate = std::max(flow.rate, static_cast<double>(demand.share));
      }
      ++links;
    });
  }
  if (leaves) flows[0].demands.clear();
  const std::vector<std::uint64_t> speeds = share_out(flows, links, whole);
  for (std::size_t i = leaves ? 1 : 0; i < sharing.size(); ++i) set_speed(sharing[i], speeds[i]);
  for (const TrainId shared : sharing) trains_[shared].index = UINT32_MAX;
}

void Trains::set_speed(TrainId number, std::uint64_t speed) {
  Train& train = trains_[number];
  if (speed == train.speed) return;
  const Time now = simulator_.now();
  train.done += scaled(now - train.since, train.speed, whole);
  train.since = now;
  train.speed = speed;
  schedule(number);
}

}  // namespace tca::net
