// The median of times that an application has measured.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tca::apps {

// Returns the mean of both where two are in the middle, as records do; 0 for no values.
inline double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  if (values.size() % 2 != 0) return *middle;
  return (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace tca::apps
