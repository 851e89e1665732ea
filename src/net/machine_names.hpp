// Formats and compares names of tables and keys for messages about machine files.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace tca::net {

// Returns the heading of a table as a file has it, "[mpi.\"mvapich2-gdr-2.2\"]" for the path
// mpi/mvapich2-gdr-2.2; "the file" for the root.
std::string heading(std::string_view path);

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

// Returns "; did you mean `ring`?" where a name is that near to `word`, and nothing elsewhere.
template <class Names>
std::string did_you_mean(std::string_view word, const Names& names) {
  const std::optional<std::string> meant = nearest(word, names);
  return meant ? "; did you mean `" + *meant + "`?" : std::string{};
}

}  // namespace tca::net
