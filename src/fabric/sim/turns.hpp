// Whose turn it is: ranks are threads of which exactly one runs at a time, and simulated time passes only while none can.
// So the model needs no locks, and a program's runs are all alike.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "des/simulator.hpp"
#include "fabric/control.hpp"

namespace tca::sim {

class Turns {
 public:
  Turns(des::Simulator& simulator, int ranks);

  int ranks() const { return static_cast<int>(seats_.size()); }

  // A rank's thread comes, and comes back with its first turn. Turns begin with rank 0's, in the order of ranks.
  void join(int rank);

  // The running rank ends, for a reason when not in good order.
  void leave(int rank, std::string_view reason);
  // Why a rank will do nothing more, or nothing while it may.
  std::optional<std::string> lost(int rank) const;

  // The running rank waits until it is woken. Throws, when nothing is left that could wake it, Error{rank_lost} if a
  // rank that it misses has gone, otherwise Error{timed_out} that tells what everybody waits for.
  void wait(int rank, const fabric::Wait& wait);
  // The same until that time, which comes for sure.
  void wait_until(int rank, des::Time time);
  // Called by the running rank or by an agent. Nothing happens to a rank that does not wait.
  void wake(int rank);

  // A rank's own time: what it has spent may lie ahead of the simulation, which catches up when it waits.
  des::Time clock(int rank) const;
  void spend(int rank, des::Time span) { seat(rank).clock = clock(rank) + span; }
  void be_at_least(int rank, des::Time time);

 private:
  enum class State { ready, running, waiting, left, failed };

  struct Seat {
    std::condition_variable turn;
    State state = State::ready;
    des::Time clock = 0;
    const fabric::Wait* wait = nullptr;
    std::string reason;          // of one that failed
    std::optional<Error> error;  // to be thrown by the wait
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
  std::mutex mutex_;  // of the hand-over alone
  int turn_ = 0;
};

}  // namespace tca::sim
