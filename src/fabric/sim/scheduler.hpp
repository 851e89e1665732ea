// The Scheduler decides which rank runs. Ranks are threads or fibers of which exactly one runs at a time,
// and simulated time passes only while none can run. So the model needs no locks, and all runs of a program
// are identical.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "base/system/fibers.hpp"
#include "control/control.hpp"
#include "model/des/simulator.hpp"

namespace tca::sim {

class Scheduler {
 public:
  // `fibers` are the ranks' fibers; null if ranks are threads.
  Scheduler(des::Simulator& simulator, int ranks, base::Fibers* fibers);

  int ranks() const { return static_cast<int>(seats_.size()); }

  // A rank calls this first; it returns when the rank has its first turn. First turns are taken in rank
  // order, starting with rank 0.
  void join(int rank);

  // The running rank ends: in good order, or because of trouble.
  void leave(int rank, const std::optional<control::Trouble>& trouble);
  // Returns why a rank will never act again, or nothing while it may.
  std::optional<control::Loss> lost(int rank) const;

  // The running rank waits until it is woken. When nothing is left that could wake it, throws
  // Error{rank_lost} if a rank that it waits for has gone, otherwise Error{timed_out}, which says what
  // every rank is waiting for.
  void wait(int rank, const control::Wait& wait);
  // The running rank waits until a given time, which is certain to come.
  void wait_until(int rank, des::Time time);
  // The running rank waits until it is woken, which happens at `time` at the latest.
  void wait_until(int rank, des::Time time, const control::Wait& wait);
  // Called by the running rank or by an agent. Does nothing to a rank that is not waiting.
  void wake(int rank);
  // Called by an agent, while every rank waits: this one's wait throws the error.
  void stop(int rank, Error error);
  // What messages about deadlocks end with.
  void set_remark(std::function<std::string()> remark) { remark_ = std::move(remark); }

  // Returns a rank's own time. The time that it has spent may be ahead of the simulation, which catches up
  // when the rank waits.
  des::Time clock(int rank) const;
  void spend(int rank, des::Time span) { seat(rank).clock = clock(rank) + span; }
  void be_at_least(int rank, des::Time time);

 private:
  enum class State { ready, running, waiting, left, failed };

  struct Seat {
    std::condition_variable turn;
    State state = State::ready;
    des::Time clock = 0;
    const control::Wait* wait = nullptr;
    control::Trouble trouble;    // for a rank that failed
    std::optional<Error> error;  // to be thrown by `wait`
  };

  Seat& seat(int rank) { return seats_[static_cast<std::size_t>(rank)]; }
  const Seat& seat(int rank) const { return seats_[static_cast<std::size_t>(rank)]; }
  des::Task sleep(int rank, des::Time until);
  std::optional<int> next();
  bool step();
  void judge();
  void condemn(int rank, Error error);
  std::string describe_deadlock() const;
  void hand_over(std::optional<int> to);
  void await_turn(int rank);

  des::Simulator& simulator_;
  std::deque<Seat> seats_;
  std::deque<int> ready_;
  int here_;
  base::Fibers* fibers_;
  std::mutex mutex_;  // protects the hand-over between threads only
  int turn_ = 0;
  std::function<std::string()> remark_ = [] { return std::string(); };
};

}  // namespace tca::sim
