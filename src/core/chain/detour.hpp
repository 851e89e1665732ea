// The two paths of a rerouted chain to one partner, on fabrics that do not route around failures
// themselves.
//
// Everything that the two ranks put to each other in the chain, and all their signals, form a program on
// the first path or on the second, separate from what goes to other ranks. The commit has prepared both. As
// long as the first path holds, each step ends with a message in both directions that it has landed, so no
// rank finishes a step that its partner might still need again.
//
// A rank that finds the first path lost, or is told so, ends its programs on it, so that they no longer
// touch its memory, and tells the partner how many steps have landed at its own end. When both have told
// each other, both start the second path with the step after those that have landed at both ends: at most
// one step that has been started, and its sources are still there. So each step lands exactly once as far
// as the program can see, and whole (verify/models/detour.pml).
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
  // The number of landed steps is sent modulo this. The two ends differ by at most one.
  static constexpr std::uint32_t tellings = 3;

  // A path: its programs, and the channels that they use.
  struct Way {
    std::vector<std::unique_ptr<fabric::Program>> programs;
    std::vector<Need> needs;
  };
  // What the commit has prepared. `landed` says that a step has landed; `to` and `from` are signals sent at
  // most once.
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
  // Advances the step, and the change of path. Does not block.
  void drive();
  bool finished() const { return finished_ == started_; }
  // Returns what is lost if both paths are; null otherwise.
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
