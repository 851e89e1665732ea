// Medians and other quantiles of measured times.
#pragma once

#include <utility>
#include <vector>

namespace tca::base {

// Returns the value that `fraction` of all samples do not exceed (0.5: the median, 0.99: p99), interpolated
// linearly between the two nearest ones; 0 if there are no samples.
double quantile(std::vector<double> samples, double fraction);

inline double median(std::vector<double> samples) { return quantile(std::move(samples), 0.5); }

}  // namespace tca::base
