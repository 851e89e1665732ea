// Measures how much of an exchange is hidden behind a computation that runs between its start and its wait.
#pragma once

#include <functional>
#include <vector>

#include "measure.hpp"

namespace tca::bench {

// Returns the hidden share of what could have been hidden: 1 when both together take no longer than the
// longer of the two, 0 when they take as long as one after the other, below 0 when they take even longer.
double hidden_share(double exchange_us, double compute_us, double both_us);

// The times of the exchange and of both are those beyond the writing and reading around them, which no
// computation could hide.
struct OverlapSamples {
  Samples exchange_us, compute_us, both_us;

  // Returns the shares, round by round, without rounds in which there was nothing to hide.
  std::vector<double> hidden() const;
};

struct OverlapOutcome {
  Contenders<Overlap> contenders;
  std::vector<OverlapSamples> samples;  // one element for each contender
};

// Collective. The computation is as long as the contender's own exchange by rank 0's clock, and has `points`
// stated points inside. Throws Error{refused} when what has arrived is not what was sent.
OverlapOutcome measure_overlap(World& world, const std::function<Contenders<Overlap>()>& make, int points,
                               const Effort& effort, const std::function<void(int)>& progress);

}  // namespace tca::bench
