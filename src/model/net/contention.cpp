// Trains that contend for links: they leave each other undisturbed, or are demoted to packets.
#include <algorithm>

#include "model/net/trains.hpp"

namespace tca::net {

using des::Time;

namespace {

// Puts packets that were computed (timeline.hpp) where they are at a given time. It takes the bookings of one
// packet after another, in the order of the links on the packet's way.
class Placing {
 public:
  Placing(Traffic& traffic, std::uint32_t message, Time at) : traffic_(traffic), message_(message), at_(at) {}

  // Takes the next booking of a packet, or the first booking of another one. `like` gives the packets of the
  // lane as they are on each of its links; a request asks for `asked` bytes.
  void put(const std::vector<Stage>& stages, const std::vector<Packet>& like, const Lane::Booking& booking,
           std::uint32_t asked) {
    if (booking.stage > 0 && before_.head <= at_) {
      if (booking.at <= at_) {
        leave(stages, before_, booking.busy_until);
      } else if (before_.at <= at_) {
        const LinkId link = send(stages, before_);
        traffic_.hold(link, packet_on(like, before_, asked), before_.head);
      }
    }
    before_ = booking;
    if (booking.at > at_) return;
    if (booking.head > at_) {
      const LinkId link = send(stages, booking);
      traffic_.resume(link, packet_on(like, booking, asked), booking.head);
    } else if (booking.stage + 1 == stages.size()) {
      leave(stages, booking, booking.tail);
      arrived_ += booking.bytes;
    }
  }

  std::uint64_t arrived() const { return arrived_; }  // bytes

 private:
  static LinkId input_of(const std::vector<Stage>& stages, std::size_t stage) {
    return stage > 0 && stages[stage].data ? stages[stage - 1].link : no_link;
  }
  Packet packet_on(const std::vector<Packet>& like, const Lane::Booking& booking, std::uint32_t asked) const {
    Packet packet = like[booking.stage];
    packet.message = message_;
    packet.tail = booking.tail;
    packet.bytes = packet.kind == PacketKind::request ? asked : booking.bytes;
    if (booking.last) packet.flags |= Packet::last;
    return packet;
  }
  LinkId send(const std::vector<Stage>& stages, const Lane::Booking& booking) const {
    const LinkId link = stages[booking.stage].link;
    traffic_.sent(link, input_of(stages, booking.stage), booking.busy, booking.busy_until);
    return link;
  }
  // The packet has left the end of a link, where its slot is free from `free` on.
  void leave(const std::vector<Stage>& stages, const Lane::Booking& booking, Time free) const {
    const Stage& stage = stages[booking.stage];
    if (free + stage.kind->latency > at_) {
      traffic_.returned(send(stages, booking), free);
    } else {
      traffic_.sent_in_bulk(stage.link, input_of(stages, booking.stage), 1, booking.busy);
    }
  }

  Traffic& traffic_;
  std::uint32_t message_;
  Time at_;
  Lane::Booking before_{};  // of the same packet, on the previous link
  std::uint64_t arrived_ = 0;
};

}  // namespace

// Returns whether a train and those that overlap with it on a link need more than the whole link.
bool Trains::overbooked(TrainId number, LinkId link) const {
  const Claim& own = claims_.of(number, link);
  return claims_.taken(
             link, [&](const Claim& claim) { return claim.train == number || own.overlaps(claim); }) > whole;
}

bool Trains::alone(TrainId number) const {
  bool any = false;
  each_stage(number, [&](const Stage& stage) { any = any || overbooked(number, stage.link); });
  return !any;
}

// Returns a train and those that overlap with it on links that cannot serve all of them.
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

// Sends a train by packets, and with it all trains that can then get less of a link than they need, or that
// use the same tags, and in turn all those that these disturb.
void Trains::go_by_packets(TrainId first) {
  const auto change = [this](TrainId number) {
    trains_[number].by_packets = true;
    // It is unknown for how long the packets will need the links.
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
    const auto pool = tag_pools_.find(trains_[number].tags);
    if (pool != tag_pools_.end())
      others.insert(others.end(), pool->second.trains.begin(), pool->second.trains.end());
    for (const TrainId rival : others) {
      if (trains_[rival].by_packets) continue;
      change(rival);
      demote(rival);
      changed.push_back(rival);
    }
  }
}

// A packet that arrives after all packets of a train queues behind them. Any other packet would change the
// times of the train's packets, so the train is demoted. The link stays claimed as long as trains are left
// that must learn of packets on it.
void Trains::contend(LinkId link, Time start, Time busy) {
  const auto over = [this](const Claim& claim) {
    return trains_[claim.train].by_packets || end_of(claim) <= simulator_.now();
  };
  Time free = 0;
  for (const Claim& claim : claims_.on(link)) {
    if (!over(claim) && given(claim)) free = std::max(free, end_of(claim));
  }
  const Time until = std::max(start, free) + busy;
  std::vector<TrainId> contended;
  bool claimed = false;
  for (const Claim& claim : claims_.on(link)) {
    if (over(claim)) continue;
    if (!given(claim) && !as_flows_ && claim.begin < until) {
      contended.push_back(claim.train);
    } else {
      claimed = true;
    }
  }
  if (!claimed) traffic_.set_claimed(link, false);
  if (free > 0) traffic_.queue(link, free);
  for (const TrainId number : contended) {
    if (trains_[number].by_packets) continue;
    go_by_packets(number);
    demote(number);
  }
}

// Demotes a train to packets: puts its packets where they would be by now.
void Trains::demote(TrainId number) {
  ++demoted_;
  Train& train = trains_[number];
  train.alarm = des::never;
  give_back(number);
  const Time at = simulator_.now();
  std::vector<Stage> way;
  std::vector<Packet> requests, data;
  if (!train.transfer.asking.empty())
    traffic_.way(train.transfer.asking[0].link, observer_.train_packet(train.message, true), way, &requests);
  traffic_.way(train.transfer.data[0].link, observer_.train_packet(train.message, false), way, &data);
  timeline_.begin(train.transfer);
  Progress progress;
  Placing placing(traffic_, train.message, at);
  const auto book = [&](const Lane& lane, const Lane::Booking& booking) {
    placing.put(lane.stages(), &lane == &timeline_.asking() ? requests : data, booking,
                train.transfer.bytes_of(timeline_.next()));
  };
  while (!timeline_.over() && timeline_.next_issue() <= at) {
    const std::uint64_t before = timeline_.next();
    if (timeline_.leap(at)) {
      sent_in_bulk(train.transfer, before, timeline_.next());
      progress.bytes += train.transfer.bytes_before(timeline_.next()) - train.transfer.bytes_before(before);
    } else {
      timeline_.step(book);
    }
    if (timeline_.passed() <= at) progress.passed = timeline_.next();
  }
  progress.requests = timeline_.next();
  progress.ready = timeline_.over() ? des::never : timeline_.ready();
  progress.bytes += placing.arrived();
  // The tags may no longer exist once all data has passed.
  if (progress.requests > progress.passed) train.tags->take(progress.requests - progress.passed);
  observer_.train_demoted(train.message, progress);
}

}  // namespace tca::net
