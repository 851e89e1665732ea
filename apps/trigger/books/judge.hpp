// Holds answers against what is true of their events.
#pragma once

#include <array>
#include <cstdint>

#include "trigger/books/book.hpp"

namespace tca::trigger {

// A pull is an error in units of what the hits allow (the bound of Cramer and Rao), so pulls have mean 0 and width 1.
struct Pulls {
  double sum = 0, squares = 0;
  std::uint64_t number = 0;

  void add(double pull) {
    sum += pull;
    squares += pull * pull;
    ++number;
  }
  double mean() const;
  double width() const;
  // Whether they are centred and of unit width, up to chance: noise widens them a little.
  bool are_good() const;
};

// Counts only, so that those of several ranks can be added.
struct Verdict {
  struct Events {
    std::uint64_t all = 0, right = 0;  // events, and those with as many rings as there are, each where it is
    std::uint64_t true_rings = 0, found_rings = 0, false_rings = 0;
  };
  std::array<Events, most_rings + 1> by_rings{};
  Pulls x, y, r;  // of events with one ring

  void add(const Verdict& other);
};

// The least share of events that must be right.
inline constexpr double least_efficiency = 0.99;

Verdict judge(const Book& book);

}  // namespace tca::trigger
