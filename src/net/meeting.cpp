// Trains that meet: they slow each other down, share, or fall apart.
#include <algorithm>
#include <map>

#include "net/shares.hpp"
#include "net/trains.hpp"

namespace tca::net {

using des::Time;

namespace {

constexpr Time longest = des::second;  // that two may overlap, when neither's end is known
constexpr std::uint64_t least_speed = Claims::whole / 128 * 127;  // slower than that, single packets matter

}  // namespace

// Whether a train and those that overlap with it on a link want more than the whole of it, for so long that one of them
// would notice: for 1/128 of the time that it takes.
bool Trains::overbooked(TrainId number, LinkId link) const {
  const auto patience = [](const Train& train) { return (train.arrived - train.trip.begin) / 128; };
  const Claim& own = claims_.of(number, link);
  std::uint64_t sum = own.share;
  Time others = 0;
  for (const Claim& claim : claims_.on(link)) {
    const Train& other = trains_[claim.train];
    if (claim.train == number || other.drained || !own.overlaps(claim)) continue;
    sum += claim.share;
    const Time span = std::min(std::min(own.end, claim.end) - std::max(own.begin, claim.begin), longest);
    const std::uint64_t both = own.share + claim.share;
    if (both > whole && scaled(span, both - whole, whole) > patience(other)) return true;
    others += scaled(span, claim.share, whole);
  }
  if (sum <= whole || own.end == des::never) return sum > whole;
  return others - scaled(own.end - own.begin, whole - own.share, whole) > patience(trains_[number]);
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
      if (trains_[claim.train].drained || !own.overlaps(claim)) continue;
      if (std::find(found.begin(), found.end(), claim.train) == found.end()) found.push_back(claim.train);
    }
  });
  return found;
}

// The speed that the fullest of its links leaves to a train, when all on it are slowed alike.
std::uint64_t Trains::speed_among(TrainId number) const {
  std::uint64_t speed = whole;
  each_stage(number, [&](const Stage& stage) {
    if (!overbooked(number, stage.link)) return;
    const Claim& own = claims_.of(number, stage.link);
    std::uint64_t sum = own.share;
    for (const Claim& claim : claims_.on(stage.link)) {
      if (claim.train != number && !trains_[claim.train].drained && own.overlaps(claim)) sum += claim.share;
    }
    speed = std::min(speed, whole * whole / std::max(sum, whole));
  });
  return speed;
}

bool Trains::all_go_on(const std::vector<TrainId>& group) const {
  return std::all_of(group.begin(), group.end(), [this](TrainId number) {
    return !trains_[number].by_packets && speed_among(number) >= least_speed;
  });
}

void Trains::adapt(const std::vector<TrainId>& group) {
  for (const TrainId number : group) {
    const Train& train = trains_[number];
    if (!train.drained && !train.by_packets) set_speed(number, speed_among(number));
  }
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
  schedule_phases(number);
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
    if (train.drained) continue;
    each_stage(number, [&](const Stage& stage) {
      const auto place = places.emplace(stage.link, static_cast<std::uint32_t>(places.size())).first->second;
      flow.demands.push_back({place, claims_.of(number, stage.link).share});
    });
  }
  const std::vector<std::uint64_t> speeds =
      share_out(flows, static_cast<std::uint32_t>(places.size()), whole);
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!trains_[group[i]].drained) set_speed(group[i], speeds[i]);
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
      claim.end = des::never;
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

// Puts the packets of a train where they would be by now. One that was slowed is where it would have been earlier.
void Trains::fall_apart(TrainId number) {
  ++fallen_;
  Train& train = trains_[number];
  train.valid = train.events;
  give_back(number);
  const Time now = simulator_.now();
  const Time at = now <= train.since
                      ? now - (train.since - train.begin - train.done)
                      : train.begin + train.done + scaled(now - train.since, train.speed, whole);
  const Time late = now - at;
  timeline_.begin(train.trip);
  Progress progress;
  const auto book = [&](const Lane& lane, const Lane::Booking& booking) {
    if (booking.at > at) return;
    const Stage& stage = lane.stages()[booking.stage];
    if (booking.stage > 0)
      traffic_.returned(lane.stages()[booking.stage - 1].link, booking.busy_until + late);
    traffic_.account(stage.link, 1, 0, booking.busy, booking.busy_until + late);
    if (booking.head > at) {
      Packet packet = stage.packet;
      packet.message = train.message;
      packet.tail = booking.tail + late;
      packet.bytes =
          packet.kind == PacketKind::request ? train.trip.bytes_of(timeline_.next()) : booking.bytes;
      if (booking.last) packet.flags |= Packet::last;
      traffic_.resume(stage.link, packet, booking.head + late);
    } else if (booking.stage + 1 == lane.stages().size()) {
      traffic_.returned(stage.link, booking.tail + late);
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
  train.tags->take(progress.requests - progress.passed);
  rider_.train_fell_apart(train.message, progress);
}

}  // namespace tca::net
