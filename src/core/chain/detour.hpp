// The two ways that a rerouted chain has to one partner, on fabrics that do not go round what has failed by themselves.
//
// All that the two ranks put to each other in the chain, and all their signals, are a program of the first way or of the
// second, apart from what goes to others. The commit has prepared both. As long as the first way holds, each step ends
// with a word in both directions, that it has landed; so a rank finishes no step that its partner might still need again.
//
// Who finds the first way lost, or hears so, ends its programs, so that nothing of them moves its memory any more, and
// tells the partner how many steps have landed at its own end. When both have told, both start the second way with the
// step behind those that have landed at both ends: one at most that has been started, whose sources are still there. So a
// step lands once for the program, and whole (verify/models/detour.pml).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/chain/need.hpp"
#include "fabric/fabric.hpp"

namespace tca::core {

class WorldState;

class Detour {
 public:
  // How many steps have landed is told modulo this. Two ends differ by one at most.
  static constexpr std::uint32_t tellings = 3;

  // A way: its programs, and the channels that they take.
  struct Way {
    std::vector<std::unique_ptr<fabric::Program>> programs;
    std::vector<Need> needs;
  };
  // What the commit has made. `landed` tells that a step has; `to` and `from` are signals that go once at most.
  struct Parts {
    int partner = 0;
    std::array<Way, 2> ways;
    std::unique_ptr<fabric::Program> landed;
    std::array<std::unique_ptr<fabric::Program>, tellings> to, from;
  };

  // Listens to the partner from now on.
  Detour(const WorldState& world, Parts parts);

  int partner() const { return parts_.partner; }
  void start();
  // Moves the step on, and the change of ways. Does not block.
  void drive();
  bool finished() const { return finished_ == started_; }
  // Returns what is lost where both ways are; null otherwise.
  const Need* lost() const;
  bool has_left_first_way() const { return state_ != State::first; }
  std::vector<int> missing() const;

  // Hands over all programs, which start nothing more.
  void retire(std::vector<std::unique_ptr<fabric::Program>>& into);

 private:
  enum class State { first, leaving, telling, second };

  const Need* lost_of(std::size_t way) const;
  bool test_all(std::size_t way) const;
  void start_all(std::size_t way) const;
  void drive_first();
  void leave();
  void tell_when_left();
  void take_second_when_told();
  bool has_heard() const;

  const WorldState& world_;
  Parts parts_;
  State state_ = State::first;
  std::uint32_t started_ = 0, landed_ = 0, finished_ = 0;  // steps
};

}  // namespace tca::core
