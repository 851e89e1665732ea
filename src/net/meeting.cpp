// Trains that meet: they slow each other down, share, or fall apart.
#include <algorithm>
#include <map>

#include "net/shares.hpp"
#include "net/trains.hpp"

namespace tca::net {

using des::Time;

// Whether a train and those that overlap with it on a link want more than the whole of it.
bool Trains::overbooked(TrainId number, LinkId link) const {
  const Claim& own = claims_.of(number, link);
  std::uint64_t sum = own.share;
  for (const Claim& claim : claims_.on(link)) {
    if (claim.train != number && in_the_way(claim, own)) sum += claim.share;
  }
  return sum > whole;
}

bool Trains::alone(TrainId number) const {
  bool any = false;
  each_stage(number, [&](const Stage& stage) { any = any || overbooked(number, stage.link); });
  return !any;
}

// A train and those that overlap with it where there is not enough for all.
std::vector<TrainId> Trains::rivals(TrainId number) const {
  std::vector<TrainId> found{number};
  each_stage(number, [&](const Stage& stage) {
    if (!overbooked(number, stage.link)) return;
    const Claim& own = claims_.of(number, stage.link);
    for (const Claim& claim : claims_.on(stage.link)) {
      if (!in_the_way(claim, own)) continue;
      if (std::find(found.begin(), found.end(), claim.train) == found.end()) found.push_back(claim.train);
    }
  });
  return found;
}

void Trains::set_speed(TrainId number, std::uint64_t speed) {
  Train& train = trains_[number];
  if (speed == train.speed) return;
  const Time now = simulator_.now();
  if (now > train.since) {
    train.done += scaled(now - train.since, train.speed, whole);
    train.since = now;
  }
  each_stage(number, [&](const Stage& stage) {
    Claim& claim = claims_.of(number, stage.link);
    if (claim.end > now) claim.end = now + scaled(claim.end - now, train.speed, speed);
  });
  train.speed = speed;
  schedule(number);
}

// A train, those that it meets where there is not enough for all, those that these meet, and so on.
std::vector<TrainId> Trains::neighbours(TrainId number) const {
  std::vector<TrainId> found{number};
  std::vector<bool> known(trains_.size());
  known[number] = true;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const TrainId other : rivals(found[i])) {
      if (known[other]) continue;
      known[other] = true;
      found.push_back(other);
    }
  }
  return found;
}

// As flows: what each takes of each link at full speed, and the speeds that are fair.
void Trains::share_links(const std::vector<TrainId>& group) {
  std::map<LinkId, std::uint32_t> places;
  std::vector<Flow> flows;
  for (const TrainId number : group) {
    const Train& train = trains_[number];
    const double bytes = static_cast<double>(train.trip.rows) * static_cast<double>(train.trip.row_bytes);
    Flow& flow = flows.emplace_back();
    flow.rate = bytes / static_cast<double>(std::max<Time>(train.passed - train.begin, 1));
    if (train.drained()) continue;
    each_stage(number, [&](const Stage& stage) {
      const auto place = places.emplace(stage.link, static_cast<std::uint32_t>(places.size())).first->second;
      flow.demands.push_back({place, claims_.of(number, stage.link).share});
    });
  }
  const std::vector<std::uint64_t> speeds =
      share_out(flows, static_cast<std::uint32_t>(places.size()), whole);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!trains_[group[i]].drained()) set_speed(group[i], speeds[i]);
  }
}

// And with it every train that now has less than it wants of a link, or that has lent the same tags, and those that these
// get in the way of.
void Trains::go_by_packets(TrainId first) {
  const auto change = [this](TrainId number) {
    trains_[number].by_packets = true;
    // Nobody knows for how long it will want its links.
    each_stage(number, [&](const Stage& stage) {
      Claim& claim = claims_.of(number, stage.link);
      claim.begin = std::max(claim.begin, simulator_.now());
      claim.end = claim.given = des::never;
    });
  };
  change(first);
  for (std::vector<TrainId> changed{first}; !changed.empty();) {
    const TrainId number = changed.back();
    changed.pop_back();
    std::vector<TrainId> others = rivals(number);
    const auto lent = lent_.find(trains_[number].tags);
    if (lent != lent_.end())
      others.insert(others.end(), lent->second.trains.begin(), lent->second.trains.end());
    for (const TrainId rival : others) {
      if (trains_[rival].by_packets) continue;
      change(rival);
      fall_apart(rival);
      changed.push_back(rival);
    }
  }
}

// What comes behind a train goes on behind it. Everything else changes when the train's packets come, and the link stays
// claimed for as long as others have to be told so.
void Trains::meet(LinkId link, Time until) {
  std::vector<TrainId> met;
  Time free = 0;
  bool claimed = false;
  for (const Claim& claim : claims_.on(link)) {
    const Train& train = trains_[claim.train];
    if (train.by_packets || claim.end <= simulator_.now()) continue;
    const bool before = as_flows_ ? train.drained() : claim.given < simulator_.now();
    if (before) free = std::max(free, claim.end);
    if (!before && !as_flows_ && claim.begin < until) {
      met.push_back(claim.train);
    } else {
      claimed = true;
    }
  }
  if (!claimed) traffic_.set_claimed(link, false);
  if (free > 0) traffic_.account(link, 0, 0, 0, free);
  for (const TrainId number : met) {
    if (trains_[number].by_packets) continue;
    go_by_packets(number);
    fall_apart(number);
  }
}

// Puts the packets of a train where they would be by now.
void Trains::fall_apart(TrainId number) {
  ++fallen_;
  Train& train = trains_[number];
  train.due = des::never;
  give_back(number);
  const Time at = simulator_.now();
  timeline_.begin(train.trip);
  Progress progress;
  const auto book = [&](const Lane& lane, const Lane::Booking& booking) {
    if (booking.at > at) return;
    const Stage& stage = lane.stages()[booking.stage];
    if (booking.stage > 0) traffic_.returned(lane.stages()[booking.stage - 1].link, booking.busy_until);
    traffic_.account(stage.link, 1, 0, booking.busy, booking.busy_until);
    if (booking.head > at) {
      Packet packet = stage.packet;
      packet.message = train.message;
      packet.tail = booking.tail;
      packet.bytes =
          packet.kind == PacketKind::request ? train.trip.bytes_of(timeline_.next()) : booking.bytes;
      if (booking.last) packet.flags |= Packet::last;
      traffic_.resume(stage.link, packet, booking.head);
    } else if (booking.stage + 1 == lane.stages().size()) {
      traffic_.returned(stage.link, booking.tail);
      progress.bytes += booking.bytes;
    }
  };
  while (!timeline_.over() && timeline_.next_issue() <= at) {
    const std::uint64_t before = timeline_.next();
    if (timeline_.leap(at)) {
      account(train.trip, before, timeline_.next());
      progress.bytes += train.trip.bytes_before(timeline_.next()) - train.trip.bytes_before(before);
    } else {
      timeline_.step(book);
    }
    if (timeline_.passed() <= at) progress.passed = timeline_.next();
  }
  progress.requests = timeline_.next();
  // Once all has passed the tags may be no more.
  if (progress.requests > progress.passed) train.tags->take(progress.requests - progress.passed);
  rider_.train_fell_apart(train.message, progress);
}

}  // namespace tca::net
