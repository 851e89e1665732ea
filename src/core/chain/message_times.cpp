#include "core/chain/message_times.hpp"

#include <algorithm>

#include "core/chain/chain_state.hpp"
#include "core/world/world_state.hpp"
#include "route/choose.hpp"

namespace tca::core {

namespace {

// Returns the time that a put should take, from the costs of the opposite direction, which this rank knows.
std::optional<double> predicted_us(WorldState& world, int from, const Descriptor& put, std::size_t puts) {
  const auto& fabric = world.fabrics()[put.fabric];
  const std::string_view protocol = fabric->protocols()[put.protocol];
  for (const route::Candidate& candidate :
       route::candidates(world.fabrics(), world.costs(), {from, *put.shape, puts, put.counted},
                         fmt::format("{}/{}", fabric->name(), protocol)))
    return candidate.predicted_us;
  return std::nullopt;
}

}  // namespace

void MessageTimes::expect(int rank, std::span<const Descriptor> puts) {
  const int me = world_.rank();
  const auto to_here = std::ranges::count_if(
      puts, [&](const Descriptor& put) { return put.to == me && put.shape != nullptr; });
  MessageTiming message{.from = rank, .measured = true};
  const Descriptor* first = nullptr;
  for (const Descriptor& put : puts) {
    if (put.to != me) continue;
    const fabric::Fabric& fabric = *world_.fabrics()[put.fabric];
    if (first == nullptr) message.fabric = fabric.name();
    message.measured &= fabric.times_messages() && message.fabric == fabric.name() && !put.produced;
    if (first == nullptr) first = &put;
    if (put.shape == nullptr) continue;
    const std::optional<double> us = predicted_us(world_, rank, put, static_cast<std::size_t>(to_here));
    if (us) message.predicted_us = message.predicted_us.value_or(0) + *us;
  }
  if (first == nullptr) return;
  // All puts of a message share the signal that ends it, which no put's cost includes.
  if (message.predicted_us)
    *message.predicted_us += 1e-3 * world_.fabrics()[first->fabric]->pricing().cache_line_transfer_ns();
  places_[world_.members()[rank]] = messages_.size();
  messages_.push_back(std::move(message));
}

// Returns null for a message that uses several paths, each of which reports its part.
MessageTiming* MessageTimes::measured(int from) {
  const auto place = places_.find(from);
  return place == places_.end() || !messages_[place->second].measured ? nullptr : &messages_[place->second];
}

void MessageTimes::add_untimed(int from, std::uint64_t messages) {
  if (MessageTiming* const message = measured(from)) message->untimed += messages;
}

void MessageTimes::add(const fabric::Arrival& arrival) {
  MessageTiming* const of_sender = measured(arrival.from);
  if (of_sender == nullptr) return;
  MessageTiming& message = *of_sender;
  const std::int64_t expected = std::clamp(arrival.sender_started, arrival.looked, arrival.seen);
  const std::int64_t carried = std::clamp(arrival.sender_started, arrival.started, arrival.seen);
  ++message.count;
  message.waiting.add(arrival.there_at_once ? 0 : expected - arrival.looked);
  if (arrival.there_at_once) {
    ++message.there_at_once;
    return;
  }
  message.carriage.add(arrival.seen - carried);
  base::Trace* const trace = world_.trace();
  if (trace == nullptr || !arrival.is_of_host) return;
  const auto us = [](std::int64_t ns) { return static_cast<double>(ns) * 1e-3; };
  const std::string detail = fmt::format("step {} of {}", arrival.step, chain_);
  if (expected > arrival.looked)
    trace->span(fmt::format("waiting for rank {}", message.from), detail, us(arrival.looked), us(expected));
  trace->span(fmt::format("carriage from rank {}", message.from), detail,
              us(std::max(carried, arrival.looked)), us(arrival.seen));
}

void MessageTimes::clear() {
  for (MessageTiming& message : messages_) {
    message.count = message.untimed = message.there_at_once = 0;
    message.waiting = message.carriage = {};
  }
}

Timing MessageTimes::timing() const { return {chain_, true, messages_}; }

}  // namespace tca::core
