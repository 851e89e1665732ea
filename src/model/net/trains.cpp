#include "model/net/trains.hpp"

#include <algorithm>

namespace tca::net {

using des::Time;

namespace {

// Returns how long a link is busy with `packets` packets of `bytes` bytes in all.
Time busy_for(const Stage& stage, std::uint64_t bytes, std::uint64_t packets) {
  return stage.kind->wire_time(bytes, packets, stage.flags);
}

// Computes the same for each link, including what it waits for: a packet holds a link until its tail has
// arrived over the previous links.
void hold(const std::vector<Stage>& stages, std::uint64_t bytes, std::uint64_t packets,
          std::vector<Time>& held) {
  held.clear();
  Time before = 0;
  for (const Stage& stage : stages) {
    held.push_back(std::max(before, busy_for(stage, bytes, packets)));
    before = stage.kind->whole ? 0 : held.back() - static_cast<Time>(packets) * stage.hop;
  }
}

// Returns how long a link is unusable for others. Packets that wait at its end for a much slower link block
// those behind them, wherever these go.
Time blocked_for(const std::vector<Time>& held, std::size_t i) {
  Time blocked = held[i];
  for (std::size_t after = i + 1; after < held.size(); ++after) {
    if (held[after] > 2 * held[i]) blocked = std::max(blocked, held[after]);
  }
  return blocked;
}

// Returns how many of a link's credits every packet can take. A packet that enters a cycle leaves one free.
std::uint32_t credits_for_all(const Stage& stage) { return stage.kind->credits - (stage.in_cycle ? 1 : 0); }

// Returns how long a link that is busy for `busy` is taken from others. A packet also holds a slot at the
// end of the link until it has left and the sending end knows that.
Time taken_for(const std::vector<Stage>& stages, std::size_t i, std::uint64_t bytes, std::uint64_t packets,
               Time busy) {
  const LinkClass& kind = *stages[i].kind;
  if (kind.credits == 0 || packets == 0) return busy;
  const Time leaves =
      i + 1 < stages.size() ? busy_for(stages[i + 1], bytes, packets) / static_cast<Time>(packets) : 0;
  const Time holds = 2 * kind.latency + stages[i].hop + leaves;
  return std::max(busy, static_cast<Time>(packets) * holds / static_cast<Time>(credits_for_all(stages[i])));
}

// Returns whether a train's packets take so many slots at the end of a link that the packets of another
// train, before or after it, would have to wait for room.
bool wants_room(const Lane& lane, std::size_t i, std::uint64_t packets) {
  const Stage& stage = lane.stages()[i];
  if (stage.kind->credits == 0) return false;
  const Time span = lane.busy_until(i) - lane.first_start(i);
  const Time held = lane.freed(i) - lane.given(i);
  const std::uint64_t at_once =
      span <= held ? packets
                   : packets * static_cast<std::uint64_t>(held) / static_cast<std::uint64_t>(span) + 1;
  return 2 * std::min(at_once, packets) > credits_for_all(stage);
}

bool begin_alike(const std::vector<Stage>& one, const std::vector<Stage>& other, std::size_t stages) {
  return one.size() >= stages &&
         std::equal(other.begin(), other.begin() + static_cast<std::ptrdiff_t>(stages), one.begin(),
                    [](const Stage& a, const Stage& b) { return a.link == b.link; });
}

// Returns whether requests and data use the same link, as from a memory through a NIC back into the node.
// They take turns there, but neither lane knows about the other.
bool contends_with_itself(const RoutedTransfer& transfer) {
  return std::ranges::any_of(transfer.asking, [&transfer](const Stage& stage) {
    return std::ranges::find(transfer.data, stage.link, &Stage::link) != transfer.data.end();
  });
}

}  // namespace

Trains::Trains(des::Simulator& simulator, Traffic& traffic, TrainObserver& observer, bool as_flows)
    : simulator_(simulator),
      traffic_(traffic),
      observer_(observer),
      as_flows_(as_flows),
      claims_(traffic.links()) {
  traffic.set_claimant(*this);
}

std::size_t Trains::bytes() const {
  std::size_t sum = trains_.capacity() * sizeof(Train) + claims_.bytes();
  for (const Train& train : trains_) {
    sum += (train.transfer.asking.capacity() + train.transfer.data.capacity()) * sizeof(Stage) +
           train.transfer.tags.capacity() * sizeof(Time);
  }
  return sum;
}

TrainId Trains::new_train() {
  if (free_train_ == no_train) {
    trains_.emplace_back();
    return static_cast<TrainId>(trains_.size() - 1);
  }
  const TrainId number = free_train_;
  free_train_ = trains_[number].next_free;
  Train& train = trains_[number];
  Train fresh;
  std::swap(fresh.transfer, train.transfer);
  train = std::move(fresh);
  return number;
}

void Trains::free_train(TrainId number) {
  trains_[number].next_free = free_train_;
  free_train_ = number;
}

TrainId Trains::start(std::uint32_t message, des::Semaphore& tags) {
  const TrainId number = new_train();
  Train& train = trains_[number];
  std::swap(train.transfer, draft_);
  train.source = train.transfer.source;
  train.message = message;
  train.tags = &tags;
  queue_behind(train.transfer);

  const bool has_tags = take_tags(train);
  const auto ignore = [](const Lane&, const Lane::Booking&) {};
  timeline_.begin(train.transfer);
  while (!timeline_.over()) {
    if (!timeline_.leap(des::never)) timeline_.step(ignore);
  }
  train.since = train.transfer.begin;
  train.passed = timeline_.passed();
  train.issued = timeline_.issued();
  if (as_flows_) {
    // The next transfer from the same source follows this one on the first link.
    const Lane& first = train.transfer.asking.empty() ? timeline_.data() : timeline_.asking();
    train.issued = std::clamp(first.busy_until(0), train.issued, train.passed);
  }
  train.arrived = timeline_.arrived();
  claim(number);

  if (!as_flows_ && !(alone(number) && has_tags && !contends_with_itself(train.transfer))) {
    go_by_packets(number);
    return number;
  }
  ++started_;
  if (!as_flows_ && !trains_[number].transfer.own_tags) keep_tags(number);
  if (trains_[number].issued == simulator_.now()) ++trains_[number].phase;
  schedule(number);
  if (as_flows_) share_links(number, false);
  return number;
}

// Schedules what happens next, at the train's current speed.
void Trains::schedule(TrainId number) {
  Train& train = trains_[number];
  const std::vector<Stage>& data = train.transfer.data;
  const auto to_nic = std::ranges::find(data, true, &Stage::to_nic);
  if (train.drained()) {
    train.due = train.arrived + train.late;
  } else if (train.phase == Phase::issued && train.transfer.requests() <= train.transfer.tags.size()) {
    train.due = train.issued;  // no request waits for data
  } else {
    const Time at = train.phase == Phase::issued ? train.issued : train.passed;
    const Time left = std::max<Time>(at - train.transfer.begin - train.done, 0);
    train.due = train.since + scaled(left, whole, train.speed);
  }
  if (train.alarm <= train.due) return;
  train.alarm = train.due;
  const bool last = train.drained() || to_nic == data.end();
  traffic_.schedule(train.due, last ? data.back().link : to_nic->link, number * Phase::phases + train.phase);
}

// Sets the times of the train's tags as earlier trains have left them: those that are available first, and
// no more than there are requests. Returns false while a transfer by packets holds some, or while another
// train has yet to take some. A transfer's own tags are all free, and may be destroyed before its train;
// nothing is recorded about them.
bool Trains::take_tags(Train& train) const {
  std::vector<Time>& tags = train.transfer.tags;
  const std::uint64_t count = train.tags->count();
  tags.assign(std::min(count, train.transfer.requests()), 0);
  if (as_flows_ || train.transfer.own_tags) return true;
  const auto found = tag_pools_.find(train.tags);
  if (found == tag_pools_.end() || found->second.trains.empty()) return train.tags->available() == count;
  const std::vector<Time>& free_at = found->second.free_at;
  const std::uint64_t free = count - free_at.size();
  for (std::uint64_t i = free; i < tags.size(); ++i) tags[i] = free_at[i - free];
  return trains_[found->second.trains.back()].phase > Phase::issued;
}

// Records for the next train when the tags are available again.
void Trains::keep_tags(TrainId number) {
  const Train& train = trains_[number];
  TagPool& pool = tag_pools_[train.tags];
  if (pool.trains.empty()) pool.free_at.clear();
  const std::uint64_t free = train.tags->count() - pool.free_at.size(), taken = train.transfer.tags.size();
  const auto left = pool.free_at.begin() + static_cast<std::ptrdiff_t>(taken > free ? taken - free : 0);
  const std::vector<Time> own = timeline_.tags();
  std::vector<Time> free_at;
  std::merge(left, pool.free_at.end(), own.begin(), own.end(), std::back_inserter(free_at));
  pool.free_at.assign(std::upper_bound(free_at.begin(), free_at.end(), simulator_.now()), free_at.end());
  pool.trains.push_back(number);
}

void Trains::give_back(TrainId number) {
  if (trains_[number].transfer.own_tags) return;
  std::erase(tag_pools_.find(trains_[number].tags)->second.trains, number);
}

// Queues a transfer on each of its links behind everything that has been given to that link. It also queues
// behind trains from the same source that have sent all requests, as far as these share its path: data from
// a slower memory may still arrive after this train's. Flows from one source share their links instead.
void Trains::queue_behind(RoutedTransfer& transfer) const {
  const auto queue = [&](std::vector<Stage>& stages, const auto& comes_the_same_way) {
    for (std::size_t i = 0; i < stages.size(); ++i) {
      for (const Claim& claim : claims_.on(stages[i].link)) {
        const Train& other = trains_[claim.train];
        if (claim.given == des::never || other.by_packets) continue;
        const bool before = !as_flows_ && other.source == transfer.source && other.phase > Phase::issued &&
                            comes_the_same_way(other.transfer, i);
        if (before || given(claim)) stages[i].free = std::max(stages[i].free, end_of(claim));
      }
    }
  };
  queue(transfer.asking, [&](const RoutedTransfer& other, std::size_t i) {
    return begin_alike(other.asking, transfer.asking, i + 1);
  });
  queue(transfer.data, [&](const RoutedTransfer& other, std::size_t i) {
    return begin_alike(other.asking, transfer.asking, transfer.asking.size()) &&
           begin_alike(other.data, transfer.data, i + 1);
  });
}

void Trains::claim(TrainId number) {
  const RoutedTransfer& transfer = trains_[number].transfer;
  const std::uint64_t requests = transfer.requests();
  // The lanes are claimed one after another, since the order of the claims decides that of everything found
  // through them.
  const std::uint64_t asking =
      claim_lane(number, timeline_.asking(), 0, requests, static_cast<Time>(requests) * transfer.request_gap);
  const std::uint64_t data =
      claim_lane(number, timeline_.data(), transfer.bytes_before(requests), transfer.packets_before(requests),
                 static_cast<Time>(requests) * transfer.memory_gap);
  const std::uint64_t most = std::max(asking, data);
  if (as_flows_ && !transfer.own_tags) {
    // Tags count as a resource of the first port, through which all requests pass.
    Claim& first =
        claims_.of(number, transfer.asking.empty() ? transfer.data[0].link : transfer.asking[0].link);
    first.share = std::max(first.share, timeline_.tags_needed(trains_[number].tags->count(), whole));
  }
  // If no link is busy all the time, latency limits a long transfer, and a delay anywhere delays its end by
  // as much. So it claims its links exclusively.
  if (!as_flows_ && requests > transfer.tags.size() && most < whole - whole / 16) {
    each_stage(number, [&](const Stage& stage) { claims_.of(number, stage.link).share = whole; });
  }
}

// Claims the links of a lane and returns the largest share. `gaps` is the additional time that the first link
// is occupied.
std::uint64_t Trains::claim_lane(TrainId number, const Lane& lane, std::uint64_t bytes, std::uint64_t packets,
                                 Time gaps) {
  const Train& train = trains_[number];
  std::uint64_t most = 0;
  if (!as_flows_) hold(lane.stages(), bytes, packets, held_);
  for (std::size_t i = 0; i < lane.stages().size(); ++i) {
    const bool tight = !as_flows_ && packets > 0 && wants_room(lane, i, packets);
    const Time begin = lane.first_start(i), end = tight ? lane.freed(i) : lane.busy_until(i);
    // Flows ignore blocking.
    const Time busy = as_flows_ ? busy_for(lane.stages()[i], bytes, packets) : blocked_for(held_, i);
    const Time taken = taken_for(lane.stages(), i, bytes, packets, busy) + (i == 0 ? gaps : 0);
    const Time span = as_flows_ ? train.passed - train.transfer.begin : end - begin;
    const Stage& stage = lane.stages()[i];
    const auto part_of = [span](Time time) {
      return static_cast<double>(time) / static_cast<double>(std::max<Time>(span, 1)) * whole;
    };
    const auto parts = static_cast<std::uint64_t>(std::clamp<double>(part_of(taken), 1, whole));
    const LinkId link = stage.link;
    claims_.add(
        link, {.train = number,
               .begin = begin,
               .end = end,
               .given = tight ? des::never : lane.given(i),
               .share = parts,
               .collision = static_cast<std::uint64_t>(part_of(static_cast<Time>(packets) * stage.collision)),
               .input = stage.input});
    traffic_.set_claimed(link, true);
    most = std::max(most, parts);
  }
  return most;
}

// Counts the requests from `from` to `to` and their data as carried by the links.
void Trains::sent_in_bulk(const RoutedTransfer& transfer, std::uint64_t from, std::uint64_t to) {
  const std::uint64_t bytes = transfer.bytes_before(to) - transfer.bytes_before(from);
  const std::uint64_t packets = transfer.packets_before(to) - transfer.packets_before(from);
  for (const Stage& stage : transfer.asking) {
    traffic_.sent_in_bulk(stage.link, no_link, to - from, busy_for(stage, 0, to - from));
  }
  LinkId input = no_link;
  for (const Stage& stage : transfer.data) {
    traffic_.sent_in_bulk(stage.link, stage.data ? input : no_link, packets, busy_for(stage, bytes, packets));
    input = stage.link;
  }
}

void Trains::release(TrainId number) {
  each_stage(number, [&](const Stage& stage) {
    if (!claims_.remove(stage.link, number)) traffic_.set_claimed(stage.link, false);
  });
  free_train(number);
}

void Trains::on_event(std::uint32_t what, Time now) {
  const TrainId number = what / Phase::phases;
  Train& train = trains_[number];
  if (what % Phase::phases != train.phase || now != train.alarm) return;
  train.alarm = des::never;
  if (now < train.due) return schedule(number);
  if (as_flows_ && train.phase == Phase::passed) share_links(number, true);
  ++train.phase;
  if (train.phase > Phase::arrived) return end(number);
  if (train.drained()) train.late = now - train.passed;
  schedule(number);
  if (!train.drained()) return observer_.train_issued(train.message);
  observer_.train_passed(train.message);
}

// Stage 0 prefetches the train. For a train that is about to end, stage 1 prefetches its stages and stage 2
// their links. The observer prefetches what it needs.
void Trains::prepare(std::uint32_t what, unsigned stage) const {
  const TrainId number = what / Phase::phases;
  const Train& train = trains_[number];
  if (stage == 0) return des::prefetch(&train, sizeof(Train));
  observer_.prepare(train.message, stage);
  if (train.phase != Phase::arrived) return;
  if (stage == 1) {
    des::prefetch(train.transfer.asking.data(), train.transfer.asking.size() * sizeof(Stage));
    des::prefetch(train.transfer.data.data(), train.transfer.data.size() * sizeof(Stage));
  } else if (stage == 2) {
    each_stage(number, [&](const Stage& at) {
      traffic_.expect_link(at.link);
      claims_.expect(at.link);
    });
  }
}

void Trains::end(TrainId number) {
  const Train& train = trains_[number];
  const std::uint32_t message = train.message;
  sent_in_bulk(train.transfer, 0, train.transfer.requests());
  if (!as_flows_) give_back(number);
  release(number);
  observer_.train_arrived(message);
}

}  // namespace tca::net
