#include "base/quantile.hpp"

#include <algorithm>
#include <cstddef>

namespace tca::base {

double quantile(std::vector<double> samples, double fraction) {
  if (samples.empty()) return 0;
  const double position = fraction * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const auto at = samples.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(samples.begin(), at, samples.end());
  if (at + 1 == samples.end()) return *at;
  const double above = *std::min_element(at + 1, samples.end());
  return *at + (position - static_cast<double>(below)) * (above - *at);
}

}  // namespace tca::base
