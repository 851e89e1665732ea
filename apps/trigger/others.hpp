// The other ranks, while this one is busy with its link.
#pragma once

#include <vector>

#include "tca/post.hpp"
#include "tca/world.hpp"

namespace tca::trigger {

class Others {
 public:
  explicit Others(World& world);

  // Costs little where it is called over and over. Throws Error{rank_lost} where one has gone that was not through.
  void look();

  // This rank is through. Returns when all others are.
  void finish();

 private:
  World& world_;
  Notices notices_;
  Post through_;              // says so to all others
  std::vector<int> awaited_;  // those that have not said it yet
};

}  // namespace tca::trigger
