// Times that every rank has measured, brought together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "tca/world.hpp"

namespace tca::apps {

// The values of all ranks, of which each has equally many.
class Gathered {
 public:
  // Collective.
  Gathered(World& world, const std::vector<double>& mine)
      : ranks_(static_cast<std::size_t>(world.size())), each_(mine.size()), all_(ranks_ * each_) {
    if (each_ > 0) world.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all_)));
  }

  // For each value the largest and the smallest that a rank has.
  std::vector<double> largest() const {
    return by([](double a, double b) { return std::max(a, b); });
  }
  std::vector<double> smallest() const {
    return by([](double a, double b) { return std::min(a, b); });
  }

 private:
  template <class Choose>
  std::vector<double> by(const Choose& choose) const {
    std::vector<double> chosen(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(each_));
    for (std::size_t rank = 1; rank < ranks_; ++rank)
      for (std::size_t i = 0; i < each_; ++i) chosen[i] = choose(chosen[i], all_[rank * each_ + i]);
    return chosen;
  }

  std::size_t ranks_, each_;
  std::vector<double> all_;
};

}  // namespace tca::apps
