// Trains that meet: they leave each other in peace or fall apart.
#include <algorithm>

#include "net/trains.hpp"

namespace tca::net {

using des::Time;

// Whether a train and those that overlap with it on a link want more than the whole of it.
bool Trains::overbooked(TrainId number, LinkId link) const {
  const Claim& own = claims_.of(number, link);
  std::uint64_t sum = own.share;
  for (const Claim& claim : claims_.on(link)) {
    if (claim.train != number && own.overlaps(claim)) sum += claim.share;
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
      if (!own.overlaps(claim)) continue;
      if (std::find(found.begin(), found.end(), claim.train) == found.end()) found.push_back(claim.train);
    }
  });
  return found;
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
    if (train.by_packets || end_of(claim) <= simulator_.now()) continue;
    const bool before = given(claim);
    if (before) free = std::max(free, end_of(claim));
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
  train.alarm = des::never;
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
