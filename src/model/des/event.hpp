// Events, the order in which they happen, and the interface of the queues that hold them.
#pragma once

#include <cstdint>

#include "model/des/time.hpp"

namespace tca::des {

// Something that happens to an object of the model: the head of a packet reaches the end of a link, an agent
// wakes up. Only the object knows what the event means, and anything else about it.
struct Event {
  Time time;
  std::uint32_t object;    // Simulator::add and spawn hand out the numbers
  std::uint32_t sequence;  // the object counts its own events
};
static_assert(sizeof(Event) == 16);

// Returns an event's place among those of the same time. It contains neither an address nor a count of all
// events, so the order depends on the model alone.
constexpr std::uint64_t rank_of(const Event& event) {
  return std::uint64_t{event.object} << 32 | event.sequence;
}
constexpr bool before(const Event& a, const Event& b) {
  return a.time != b.time ? a.time < b.time : rank_of(a) < rank_of(b);
}

// Holds the pending events. Both kinds of queue return them in the same order; the heap is the simple one
// against which the wheel is checked.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual void push(const Event& event) = 0;

  // Takes the next event if it is due no later than `until`.
  virtual bool pop(Time until, Event& event) = 0;
  virtual std::size_t size() const = 0;
};

enum class QueueKind { wheel, heap };

}  // namespace tca::des
