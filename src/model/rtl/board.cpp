#include "model/rtl/board.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace tca::rtl {

using des::Time;

Board::Board(Outside& outside, Loads& loads, const net::RtlKind& kind, std::uint32_t node,
             std::uint32_t number)
    : outside_(outside),
      loads_(loads),
      kind_(kind),
      node_(node),
      words_(kind.bits / 32),
      core_(make_core(kind.bits, number)) {}

std::uint32_t Board::beats(std::size_t data_bytes) const {
  return static_cast<std::uint32_t>(1 + (data_bytes + 4 * words_ - 1) / (4 * words_));
}

void Board::set(std::uint64_t address, std::uint64_t value) {
  std::array<std::byte, 8> bytes;
  std::memcpy(bytes.data(), &value, bytes.size());
  queues_[port::host].push_back({loads_.add(make_write(address, bytes), port::host), 0});
  bool fed;
  do {
    in_ = {};
    fed = feed_all(0);
    core_->cycle(in_, out_);
    collect();
  } while (fed || !core_->idle());
}

void Board::arrive(std::uint32_t port, std::uint32_t load, Time first) {
  const bool answer = port == port::host && loads_[load].tlp.is_completion();
  queues_[answer ? answers : port].push_back({load, first});
  wake_at(first);
}

void Board::credit(std::uint32_t port, Time at) {
  credits_[port].push_back(at);
  if (may_lack_credits(port)) wake_at(at);
}

// A hub that has credits for a few of the longest packets does not wait for more, which then go in with something else.
bool Board::may_lack_credits(std::uint32_t port) const {
  constexpr std::uint32_t few = 3;  // one enters a ring where two find room
  const std::uint32_t owed = outgoing_[port].owed;
  return port == port::host ? owed + few * beats(most_payload) > host_credits : owed + few > cable_credits;
}

// Edges are on whole cycles. A requested cycle comes in any case, so only an earlier one is requested.
void Board::wake_at(Time at) {
  const Time edge = std::max((at + kind_.cycle - 1) / kind_.cycle * kind_.cycle, last_ + kind_.cycle);
  if (next_ >= 0 && next_ <= edge) return;
  next_ = edge;
  outside_.wake(node_, edge);
}

// Answers pass stores that wait for room, as there is always room for them.
Board::Queue* Board::pick(std::uint32_t port, Time now) {
  const auto is_due = [&](const Queue& queue) { return !queue.empty() && queue.front().first <= now; };
  Queue& own = queues_[port];
  if (port != port::host) return is_due(own) ? &own : nullptr;
  if (half_ != nullptr) return half_;
  const bool stores = is_due(own) && room_ >= beats(loads_[own.front().load].tlp.data.size());
  Queue& others = queues_[answers];
  if (is_due(others) && (!stores || others.front().first < own.front().first)) return &others;
  return stores ? &own : nullptr;
}

// Puts the next beat of a queue's first packet on a port. Returns false if that beat has not arrived yet.
bool Board::feed(std::uint32_t port, Queue& queue) {
  Incoming& incoming = queue.front();
  const Load& load = loads_[incoming.load];
  Beat& beat = in_.beats[port];
  if (incoming.beats == 0) {
    std::ranges::copy(load.tlp.header, beat.words.begin());
  } else {
    const std::size_t from = (incoming.beats - 1) * words_ * 4;
    const std::size_t bytes = std::min(words_ * 4, load.tlp.data.size() - from);
    if (load.filled < from + bytes) return false;
    std::memcpy(beat.words.data(), load.tlp.data.data() + from, bytes);
  }
  beat.valid = true;
  beat.last = ++incoming.beats == beats(load.tlp.data.size());
  if (port == port::host) {
    half_ = beat.last ? nullptr : &queue;
    if (&queue == &queues_[port::host]) --room_;
  }
  if (!beat.last) return true;
  loads_.remove(incoming.load);
  queue.pop_front();
  return true;
}

bool Board::feed_all(Time now) {
  bool any = false;
  for (std::uint32_t port = 0; port < port::count; ++port) {
    if (Queue* const queue = pick(port, now)) any |= feed(port, *queue);
    std::deque<Time>& credits = credits_[port];
    if (credits.empty() || credits.front() > now) continue;
    credits.pop_front();
    --outgoing_[port].owed;
    in_.credits[port] = any = true;
  }
  return any;
}

void Board::collect() {
  for (std::uint32_t port = 0; port < port::count; ++port) {
    if (out_.beats[port].valid) collect(port, out_.beats[port]);
    if (!out_.credits[port]) continue;
    if (port == port::host)
      ++room_;
    else
      outside_.make_room(node_, port);
  }
}

void Board::collect(std::uint32_t port, const Beat& beat) {
  Outgoing& outgoing = outgoing_[port];
  if (port == port::host || !outgoing.open) ++outgoing.owed;
  if (!outgoing.open) {
    Load load;
    std::copy_n(beat.words.begin(), load.tlp.header.size(), load.tlp.header.begin());
    load.tlp.data.resize(load.tlp.data_bytes());
    outgoing.load = loads_.add(std::move(load));
    outside_.leave(node_, port, outgoing.load);
  } else {
    Load& load = loads_[outgoing.load];
    const std::size_t bytes = std::min(words_ * 4, load.tlp.data.size() - load.filled);
    std::memcpy(load.tlp.data.data() + load.filled, beat.words.data(), bytes);
    load.filled += static_cast<std::uint32_t>(bytes);
  }
  outgoing.open = !beat.last;
}

void Board::cycle(Time now) {
  if (now != next_) return;  // an earlier one has been requested since
  next_ = -1;
  last_ = now;
  in_ = {};
  const bool fed = feed_all(now);
  core_->cycle(in_, out_);
  collect();
  const bool counts = patience_ >= 0 && patience_ <= now;
  if (fed || !core_->waiting()) patience_ = -1;
  if (fed || (counts && core_->waiting()) || !core_->idle()) return wake_at(now + kind_.cycle);
  sleep(now);
}

// Nothing moves until something arrives. Only the time-outs of reads count, for which the clock runs once
// an answer has been missing for that long.
void Board::sleep(Time now) {
  Time next = std::numeric_limits<Time>::max();
  if (core_->waiting()) next = patience_ = now + kind_.time_out;
  for (const Queue& queue : queues_)
    if (!queue.empty()) next = std::min(next, queue.front().first);
  for (std::uint32_t port = 0; port < port::count; ++port)
    if (!credits_[port].empty() && may_lack_credits(port)) next = std::min(next, credits_[port].front());
  if (next != std::numeric_limits<Time>::max()) wake_at(std::max(next, now + kind_.cycle));
}

}  // namespace tca::rtl
