// The things that agents wait for: counters, signals, semaphores, and the ends of other agents. Each has a
// label, which appears in messages about deadlocks.
#pragma once

#include <cstdint>

#include "model/des/simulator.hpp"

namespace tca::des {

// A number that only grows, such as a count of arrivals or a sequence number. Agents wait until it has
// reached a value.
class Counter {
 public:
  Counter(Simulator& simulator, Label name) : simulator_(simulator), name_(name) {}
  Counter(const Counter&) = delete;
  Counter& operator=(const Counter&) = delete;

  std::uint64_t value() const { return value_; }
  void add(std::uint64_t count = 1) {
    value_ += count;
    if (list_.first != WaitList::nobody) simulator_.wake_up_to(list_, value_);
  }

  auto reached(std::uint64_t value) { return Reached{*this, value}; }

 private:
  struct Reached {
    Counter& counter;
    std::uint64_t value;
    bool await_ready() const { return counter.value_ >= value; }
    void await_suspend(Task::Handle task) const {
      counter.simulator_.park(task, counter.list_, counter.name_, value);
    }
    void await_resume() const {}
  };

  Simulator& simulator_;
  Label name_;
  std::uint64_t value_ = 0;
  WaitList list_;
};

// A flag that is raised or lowered. Waiting agents continue once it is raised, and an agent that arrives
// while it is raised does not wait.
class Signal {
 public:
  Signal(Simulator& simulator, Label name) : simulator_(simulator), name_(name) {}
  Signal(const Signal&) = delete;
  Signal& operator=(const Signal&) = delete;

  bool raised() const { return raised_; }
  void raise() {
    raised_ = true;
    notify();
  }
  void lower() { raised_ = false; }
  // Wakes the agents that are waiting now, as a condition variable does: they check for themselves what has
  // changed.
  void notify() {
    if (list_.first != WaitList::nobody) simulator_.wake_up_to(list_, 0);
  }

  auto wait() { return Wait{*this}; }

 private:
  friend class Semaphore;
  struct Wait {
    Signal& signal;
    bool await_ready() const { return signal.raised_; }
    void await_suspend(Task::Handle task) const {
      signal.simulator_.park(task, signal.list_, signal.name_, 0);
    }
    void await_resume() const {}
  };

  Simulator& simulator_;
  Label name_;
  WaitList list_;
  bool raised_ = false;
};

// A stock of equal units. Requests are granted in the order in which they were made.
class Semaphore {
 public:
  Semaphore(Simulator& simulator, Label name, std::uint64_t count)
      : simulator_(simulator), name_(name), whole_(count), count_(static_cast<std::int64_t>(count)) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  std::uint64_t count() const { return whole_; }  // units in all, available or handed out
  std::uint64_t available() const { return count_ > 0 ? static_cast<std::uint64_t>(count_) : 0; }
  void release(std::uint64_t count = 1);
  // Takes units at once and out of turn, even units that are not available: later requests then wait until
  // enough have been returned.
  void take(std::uint64_t count) { count_ -= static_cast<std::int64_t>(count); }

  auto acquire(std::uint64_t count = 1) { return Acquire{*this, count}; }
  // Moves the first agent that waits for `waiting`, a signal that is not raised, to the end of the
  // requests: it continues once it has been given one unit.
  void ask_for(Signal& waiting) { simulator_.move_first(waiting.list_, list_, name_, 1); }

 private:
  struct Acquire {
    Semaphore& semaphore;
    std::uint64_t count;
    bool await_ready() const {
      if (semaphore.list_.first != WaitList::nobody || semaphore.available() < count) return false;
      semaphore.take(count);
      return true;
    }
    void await_suspend(Task::Handle task) const {
      semaphore.simulator_.park(task, semaphore.list_, semaphore.name_, count);
    }
    void await_resume() const {}  // `release` has already taken the count for this agent
  };

  Simulator& simulator_;
  Label name_;
  std::uint64_t whole_;
  std::int64_t count_;
  WaitList list_;
};

// A group of agents that one agent starts side by side and whose ends it awaits:
//   des::Group group(simulator, {"faces"});
//   for (...) group.spawn(send(face), {"face", i});
//   co_await group.done();
class Group {
 public:
  Group(Simulator& simulator, Label name) : simulator_(simulator), ended_(simulator, name) {}

  void spawn(Task task, Label name);
  auto done() { return ended_.reached(started_); }

 private:
  Task run(Task task);

  Simulator& simulator_;
  Counter ended_;
  std::uint64_t started_ = 0;
};

}  // namespace tca::des
