#include "shuffle_hub.hpp"

#include <algorithm>
#include <cstring>

namespace tca::test {

std::vector<Block*> ShuffleHub::blocks(std::size_t window) {
  std::vector<Block*> all;
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto block = blocks_.find({window, rank});
    all.push_back(block == blocks_.end() ? nullptr : block->second.get());
  }
  return all;
}

Block* ShuffleHub::make_block(std::size_t window, int rank, std::size_t bytes, std::byte* existing) {
  auto& block = blocks_[{window, rank}];
  block = std::make_unique<Block>();
  if (existing == nullptr) block->own = base::Zeroed(bytes);
  block->bytes = {existing == nullptr ? block->own.data() : existing, bytes};
  return block.get();
}

Lane* ShuffleHub::lane(std::size_t chain, int from, int to, bool guarded) {
  auto& lane = lanes_[{chain, from, to}];
  if (lane == nullptr) {
    lane = std::make_unique<Lane>();
    lane->from = from;
    lane->to = to;
    lane->guarded = guarded;
  }
  return lane.get();
}

// The last rank to drop a chain removes its lanes. Until then another rank may still be a step behind.
void ShuffleHub::drop_chain_end(std::size_t chain, std::size_t members) {
  if (++dropped_[chain] < members) return;
  const auto first = lanes_.lower_bound({chain, 0, 0}), last = lanes_.lower_bound({chain + 1, 0, 0});
  for (auto at = first; at != last; ++at) {
    if (!at->second->flights.empty()) note("a chain was given up on every rank with puts still on their way");
    std::erase(busy_, at->second.get());
  }
  lanes_.erase(first, last);
}

void ShuffleHub::put_now(int from, int to, Block* target, std::byte* place, std::vector<std::byte> value) {
  immediates_[{from, to}].push_back({now(), target, place, std::move(value)});
}

void ShuffleHub::wake(Lane& lane) {
  if (!lane.busy) busy_.push_back(&lane);
  lane.busy = true;
}

bool ShuffleHub::sends(int rank) const {
  for (const auto& [pair, queue] : immediates_) {
    if (pair.first == rank && !queue.empty()) return true;
  }
  return std::any_of(busy_.begin(), busy_.end(), [&](const Lane* lane) {
    return lane->from == rank && (!lane->flights.empty() || !lane->arrivals.empty());
  });
}

void ShuffleHub::poll() {
  for (auto& [pair, queue] : immediates_) {
    if (chance(30)) land_immediates(queue);
  }
  std::shuffle(busy_.begin(), busy_.end(), random_);
  for (Lane* lane : busy_) {
    if (chance(40)) visit(*lane);
  }
  std::erase_if(busy_, [](Lane* lane) {
    lane->busy = !lane->flights.empty() || !lane->arrivals.empty() || lane->ready != lane->ready_sent;
    return !lane->busy;
  });
}

void ShuffleHub::visit(Lane& lane) {
  if (chance(50)) lane.ready = lane.ready_sent;
  std::shuffle(lane.flights.begin(), lane.flights.end(), random_);
  for (std::size_t i = 0; i < lane.flights.size();) {
    Flight& flight = lane.flights[i];
    if (!flight.captured && flight.protocol != late && chance(30)) capture(flight);
    if (chance(60) && may_land(lane, flight)) {
      land(flight);
      lane.flights.erase(lane.flights.begin() + static_cast<std::ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  if (lane.arrivals.empty() || chance(50)) return;
  const Lane::Arrival next = lane.arrivals.front();
  const auto& immediates = immediates_[{lane.from, lane.to}];
  const bool all_landed = std::none_of(lane.flights.begin(), lane.flights.end(),
                                       [&](const Flight& flight) { return flight.step <= next.step; }) &&
                          (immediates.empty() || immediates.front().moment > next.moment);
  if (!all_landed) return;
  lane.arrived = next.step;
  if (!next.lengths.empty()) lane.lengths[next.step] = next.lengths;
  lane.arrivals.pop_front();
}

bool ShuffleHub::may_land(const Lane& lane, const Flight& flight) const {
  if (lane.guarded && lane.ready < flight.step) return false;
  if (flight.protocol == buffered && !flight.captured) return false;
  return std::none_of(lane.flights.begin(), lane.flights.end(), [&](const Flight& other) {
    return other.descriptor == flight.descriptor && other.step < flight.step;
  });
}

void ShuffleHub::check_source(const Flight& flight) {
  if (flight.source->released) note("a put read memory that its rank had given back");
}

void ShuffleHub::capture(Flight& flight) {
  check_source(flight);
  flight.buffer.resize(flight.bytes);
  base::gather_cut(flight.buffer.data(), flight.from, *flight.shape, flight.bytes);
  flight.captured = true;
}

void ShuffleHub::land(Flight& flight) {
  if (flight.target->released) {
    note("a put landed in memory that its rank had given back");
  } else if (flight.captured) {
    base::scatter_cut(flight.to, flight.buffer.data(), *flight.shape, flight.bytes);
  } else {
    check_source(flight);
    base::copy_cut(flight.to, flight.from, *flight.shape, flight.bytes);
  }
}

void ShuffleHub::land_immediates(std::deque<Immediate>& queue) {
  for (; !queue.empty(); queue.pop_front()) {
    const Immediate& put = queue.front();
    if (put.target->released) {
      note("an immediate put landed in memory that its rank had given back");
    } else {
      std::memcpy(put.place, put.value.data(), put.value.size());
    }
    if (chance(30)) {
      queue.pop_front();
      return;
    }
  }
}

}  // namespace tca::test
