// The names of tables and keys, in messages about machine files.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace tca::net {

// "[mpi.\"mvapich2-gdr-2.2\"]" for the path mpi/mvapich2-gdr-2.2, as a file has it; "the file" for the root.
std::string heading(std::string_view path);

// Levenshtein's: how many letters must be added, dropped or changed.
std::size_t distance(std::string_view a, std::string_view b);

// The one of `names` that `word` was probably meant to be: two letters away, or a third of it for long words.
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
