// A queue as a binary heap. It assumes nothing about times, and is too simple to be wrong.
#pragma once

#include <queue>
#include <vector>

#include "model/des/event.hpp"

namespace tca::des {

class Heap final : public Queue {
 public:
  void push(const Event& event) override { events_.push(event); }
  bool pop(Time until, Event& event) override {
    if (events_.empty() || events_.top().time > until) return false;
    event = events_.top();
    events_.pop();
    return true;
  }
  std::size_t size() const override { return events_.size(); }

  const Event& top() const { return events_.top(); }

 private:
  struct Later {
    bool operator()(const Event& a, const Event& b) const { return before(b, a); }
  };
  std::priority_queue<Event, std::vector<Event>, Later> events_;
};

}  // namespace tca::des
