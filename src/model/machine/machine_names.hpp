// Formats and compares names of tables and keys for messages about machine files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/text/spelling.hpp"

namespace tca::net {

// Returns the heading of a table as a file has it, "[mpi.\"mvapich2-gdr-2.2\"]" for the path
// mpi/mvapich2-gdr-2.2; "the file" for the root.
std::string heading(std::string_view path);

// Returns "; did you mean `ring`?" if a name is that close to `word`, and nothing otherwise.
template <class Names>
std::string did_you_mean(std::string_view word, const Names& names) {
  const std::optional<std::string> meant = base::nearest(word, names);
  return meant ? "; did you mean `" + *meant + "`?" : std::string{};
}

}  // namespace tca::net
