// A collective against a plain computation of what it must give, bit by bit.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "ranks.hpp"

namespace tca::test {

struct CollCase {
  coll::Kind kind = coll::Kind::broadcast;
  std::string type = "int";  // float, double, int, long
  std::string algorithm;
  std::int64_t count = 1;
  int root = 0;
  bool in_place = true;
  Op op = Op::sum;
  bool own_operation = false;  // the same, as a function of the test's own
  int steps = 3;
  bool by_test = false;                       // polls `test` in place of `wait`
  std::function<void(Collective&)> run = {};  // in place of `start` and `wait`
};

std::ostream& operator<<(std::ostream& out, const CollCase& test);

// Those that a world of so many ranks has for it.
std::vector<std::string> coll_algorithms(coll::Kind kind, int ranks, bool own_operation = false);

// What went wrong, with the case that it was in.
Mismatch named(const CollCase& test, const std::exception& error);

// Collective: runs it `steps` times with other values each time. Throws Mismatch.
void check_collective(World& world, const CollCase& test);

}  // namespace tca::test
