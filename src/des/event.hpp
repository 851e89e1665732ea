// What happens, and the order in which it does.
#pragma once

#include <cstdint>

#include "des/time.hpp"

namespace tca::des {

// Something that happens to an object of the model: a packet's head comes to the end of a link, an agent wakes up. What
// it means, and anything else about it, the object knows.
struct Event {
  Time time;
  std::uint32_t object;    // Simulator::add and spawn hand out the numbers
  std::uint32_t sequence;  // the object counts its own events
};
static_assert(sizeof(Event) == 16);

// Never an address and never a count of all events: the order depends on the model alone.
constexpr std::uint64_t rank_of(const Event& event) {
  return std::uint64_t{event.object} << 32 | event.sequence;
}
constexpr bool before(const Event& a, const Event& b) {
  return a.time != b.time ? a.time < b.time : rank_of(a) < rank_of(b);
}

// The events that are still to come. Both kinds hand them out in the same order; the heap is the plain one that the
// wheel is held against.
class Queue {
 public:
  virtual ~Queue() = default;
  virtual void push(const Event& event) = 0;

  // Takes the next event if it comes no later than `until`.
  virtual bool pop(Time until, Event& event) = 0;
  virtual std::size_t size() const = 0;
};

enum class QueueKind { wheel, heap };

}  // namespace tca::des
