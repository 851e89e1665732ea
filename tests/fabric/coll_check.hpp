// Checks a collective bit by bit against a plain computation of its result.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace tca::test {

struct CollCase {
  CollectiveKind kind = CollectiveKind::broadcast;
  std::string type = "int";  // float, double, int, long
  std::string algorithm;
  std::int64_t count = 1;
  int root = 0;
  bool in_place = true;
  ReduceOp op = ReduceOp::sum;
  bool own_operation = false;  // passes `op` as a function of the test's own
  int steps = 3;
  bool by_test = false;                       // polls `test` instead of calling `wait`
  std::function<void(Collective&)> run = {};  // replaces `start` and `wait`
};

std::ostream& operator<<(std::ostream& out, const CollCase& test);

// Returns the algorithms of a kind that a world of `ranks` ranks offers.
std::vector<std::string> coll_algorithms(CollectiveKind kind, int ranks, bool own_operation = false);

// Returns a Mismatch with the error's message and the case in which it happened.
Mismatch named(const CollCase& test, const std::exception& error);

// Runs the collective `steps` times, with other values each time. Collective. Throws Mismatch.
void check_collective(World& world, const CollCase& test);

}  // namespace tca::test
