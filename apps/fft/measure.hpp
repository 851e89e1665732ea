// Transforms a field of random numbers forward and backward, in one way or in several that take turns, checks what comes out
// and keeps what it took.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "fft/field.hpp"
#include "fft/way.hpp"

namespace tca::fft {

struct Trials {
  int samples = 0;     // of each way; 0 for as many as fill `seconds`, but at least three
  double seconds = 1;  // for all ways together
};

using Progress = std::function<void(const char* what, std::int64_t done, std::int64_t total)>;

// What one way did; the same on every rank. Times are of a transform, on the slowest rank.
struct Result {
  Errors errors;
  std::vector<double> samples_us;  // the mean of some forward and as many backward
  double exchange_us = 0;          // the median of the same; 0 where it is not known
};

// As many transforms forward and backward as make a sample: numbers grow with each, and must not overflow.
int pairs_of(const Field& field, bool in_double);

// The operations of a transform, as the field counts them: 5 n log2 n for n complex numbers, half of it for real
// ones.
double flops(const Field& field);

// Collective. Checks each way before it is timed.
template <class Real>
std::vector<Result> measure(World& world, const Field& field, const Ends<Real>& ends,
                            std::span<Way* const> ways, const Trials& trials, const Progress& progress = {});

}  // namespace tca::fft
