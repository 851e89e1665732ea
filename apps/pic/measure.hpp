// Simulates step by step, in one way or in several that take turns, and keeps what steps took and what is known after each.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "pic/deck.hpp"
#include "pic/exchange.hpp"
#include "pic/solver.hpp"
#include "shared/message_cost.hpp"
#include "tca/grid.hpp"
#include "tca/world.hpp"

namespace tca::pic {

// Called after every step, or after all that are taken as one.
using Progress = std::function<void(const char* what, std::int64_t done, std::int64_t total)>;

// What one way took for its share of the steps; the same on every rank. Times are of the slowest rank.
struct Result {
  std::vector<double> samples_us;                      // a step, or the mean of steps that are taken as one
  double push_us = 0, fields_us = 0, exchange_us = 0;  // medians of the same
  std::int64_t bytes_max = 0, bytes_total = 0;  // sent in the last step by the busiest rank, and by all
  std::vector<apps::MessageCost> messages;
};

// Collective. Returns the sums of equally many numbers over all ranks: where only one has each, it puts them together.
std::vector<double> put_together(World& world, const std::vector<double>& mine);

struct Simulation {
  std::vector<Result> results;   // one for each exchange
  std::vector<Sample> history;   // of the whole box: at first, and after each step
  std::vector<double> ex_along;  // at the end, along x in the middle of the box
  bool every_step_checked = true;
  std::uint64_t digest = 0;  // of the particles; the same on any number of ranks
  int most_rounds = 0;
};

// Collective. The exchanges take turns, step by step. Gauss's law is looked at after every `check_every`th step and the last.
// Steps may be taken as one only between those, and where no `after_step` looks at each.
template <class Number>
Simulation simulate(World& world, Solver<Number>& solver, std::span<Exchange* const> exchanges,
                    std::int64_t check_every, const Progress& progress = {},
                    const std::function<void()>& after_step = {});

}  // namespace tca::pic
