// The state of iterations that the host or a graph starts, which is kept on the device for each right-hand
// side, and what follows from the sums. The same source runs on the host for its tests.
#pragma once

#include <cstddef>

#include "qcd/gpu/solve.hpp"

namespace tca::qcd {

// Squared relative residuals, `most` of them for each right-hand side, in pinned memory.
struct History {
  double* all = nullptr;
  std::size_t most = 0;
  TCA_DEVICE double* of(std::size_t rhs) const { return all + rhs * most; }
};

// The state that all methods have. In mixed precision all right-hand sides have the same number of
// iterations, and one that was over may become active again.
struct Steps {
  double tolerance = 0, update_at = 0;
  double b2 = 0, r2 = 0, bound = 0;
  int iterations = 0, most = 0;
  int updates = 0;   // of the residual in double
  bool due = false;  // an update is due, and nothing moves before it
  bool over = false;

  TCA_DEVICE void begin(double b_squared, double r_squared) {
    b2 = b_squared;
    r2 = r_squared;
    bound = tolerance * tolerance * b2;
    look();
  }
  // Ends an iteration, which has left this squared residual.
  TCA_DEVICE void count(double r_squared, double* history) {
    r2 = r_squared;
    history[iterations++] = relative(r2);
    look();
  }
  TCA_DEVICE double relative(double r_squared) const { return b2 > 0 ? r_squared / b2 : r_squared; }

 private:
  TCA_DEVICE void look() { over = iterations >= most || r2 <= bound || !is_finite(r2); }
};

struct CgSteps : Steps {
  double alpha = 0, beta = 0;
  bool first = true;
  // For mixed precision: |s|^2 before the step, or 0 if none was made; |r|^2 after it; and the largest
  // relative residual of all right-hand sides, squared, at the last update.
  double s2 = 0, next = 0, highest = 0;
  bool moves = false;
  bool p_stays = false;
};

// Called after the sums of an iteration or, the first time, of r and s. After the end of the solve nothing
// moves.
TCA_DEVICE void decide(CgSteps& steps, const double* sums, double* history) {
  steps.alpha = steps.beta = 0;
  if (steps.first) {
    steps.first = false;
    steps.begin(sums[3], sums[2]);
  } else if (!steps.over) {
    const Coefficients now = coefficients(sums);
    steps.alpha = now.alpha;
    steps.beta = now.beta;
    steps.count(now.r2, history);
  }
}

// Mixed precision follows the host's rule: the largest residual decides when the residual is recomputed, for
// all right-hand sides at once. The device finds that an update is due. By then x, r and s have moved on but
// p has not, and the iterations that follow change nothing until the host has put the update on the stream. A
// right-hand side that is over changes nothing either.

// Called after the sums of an iteration: the step of one right-hand side.
TCA_DEVICE void propose(CgSteps& steps, const double* sums) {
  steps.alpha = steps.beta = 0;
  steps.next = steps.r2;
  steps.moves = !steps.over && !steps.due;
  steps.p_stays = !steps.moves;
  if (!steps.due) steps.s2 = 0;
  if (!steps.moves) return;
  const Coefficients now = coefficients(sums);
  steps.alpha = now.alpha;
  steps.beta = now.beta;
  steps.s2 = now.s2;
  steps.next = now.r2;
}

// The progress of all right-hand sides.
struct Progress {
  double largest = 0;  // relative residual, squared
  bool moves = false;
};
TCA_DEVICE Progress progress_of(const CgSteps* all, Word rhs) {
  Progress progress;
  bool none = true;
  for (Word r = 0; r < rhs; ++r) {
    const double now = all[r].relative(all[r].next);
    // A NaN does not keep the other right-hand sides from their updates.
    if (none || now > progress.largest) progress.largest = now;
    none = none && !(now >= 0);
    progress.moves = progress.moves || all[r].moves;
  }
  return progress;
}

// Called next: the right-hand side goes on, or waits for an update.
TCA_DEVICE void settle(CgSteps& steps, const Progress& progress, double* history) {
  if (!progress.moves) return;
  steps.due = progress.largest < steps.update_at * steps.update_at * steps.highest ||
              progress.largest <= steps.tolerance * steps.tolerance;
  if (steps.due) {
    steps.p_stays = true;
  } else {
    steps.count(steps.next, history);
  }
}

// Called after the sums of a recomputed r and its s, also at the beginning of a solve. p takes its next
// direction from where it was.
TCA_DEVICE void renew(CgSteps& steps, const double* sums) {
  steps.alpha = 0;
  steps.beta = steps.s2 > 0 ? sums[0] / steps.s2 : 0;
  steps.p_stays = false;
  steps.next = sums[2];
  if (steps.first) steps.begin(sums[3], sums[2]);
}
TCA_DEVICE void go_on(CgSteps& steps, const Progress& progress, double* history) {
  steps.highest = progress.largest;
  steps.due = false;
  if (steps.first) {
    steps.first = false;
  } else {
    ++steps.updates;
    steps.count(steps.next, history);
  }
}

}  // namespace tca::qcd
