// Finds the name that a misspelt word was meant to be.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace tca::base {

// Returns the Levenshtein distance: how many letters must be added, dropped or changed.
std::size_t distance(std::string_view a, std::string_view b);

// Returns the name that `word` was probably meant to be: at most two letters away or, for long words, a third
// of their letters.
template <class Names>
std::optional<std::string> nearest(std::string_view word, const Names& names) {
  std::optional<std::string> best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const auto& name : names) {
    const std::size_t far = distance(word, name);
    if (far >= least) continue;
    least = far;
    best = std::string(name);
  }
  return best;
}

}  // namespace tca::base
