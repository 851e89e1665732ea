// A helper of constructors that take a list of counts. Programs do not name it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "tca/layout.hpp"

namespace tca::detail {

inline std::vector<std::int64_t> values_of(std::initializer_list<Count> counts) {
  std::vector<std::int64_t> values;
  for (const Count count : counts) values.push_back(count.value());
  return values;
}

}  // namespace tca::detail
