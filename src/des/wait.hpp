// What agents wait for: counters, signals, semaphores, and the ends of other agents. Each has a label, which messages
// about deadlocks name.
#pragma once

#include <cstdint>

#include "des/simulator.hpp"

namespace tca::des {

// A number that only grows, and agents that wait until it has grown far enough: arrivals, sequence numbers.
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

// Raised or not. Whoever waits goes on once it is raised, and whoever comes while it stays raised does not wait.
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
  // Wakes those who wait now, as a condition: they look for themselves at what has changed.
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

// A stock of equal things, handed out in the order in which they were asked for.
class Semaphore {
 public:
  Semaphore(Simulator& simulator, Label name, std::uint64_t count)
      : simulator_(simulator), name_(name), whole_(count), count_(static_cast<std::int64_t>(count)) {}
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;

  std::uint64_t count() const { return whole_; }  // available or handed out
  std::uint64_t available() const { return count_ > 0 ? static_cast<std::uint64_t>(count_) : 0; }
  void release(std::uint64_t count = 1);
  // At once, out of turn, and even what is not there yet: the next ones wait until it has come back.
  void take(std::uint64_t count) { count_ -= static_cast<std::int64_t>(count); }

  auto acquire(std::uint64_t count = 1) { return Acquire{*this, count}; }
  // Who waits for a signal, which is not raised, is the last to ask for one, and goes on once it has been handed that.
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
    void await_resume() const {}  // whoever released has already taken the count
  };

  Simulator& simulator_;
  Label name_;
  std::uint64_t whole_;
  std::int64_t count_;
  WaitList list_;
};

// Agents that an agent starts side by side, and whose ends it awaits:
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
