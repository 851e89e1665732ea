// Any environment gives this process a place among ranks, or is refused. A line of the text is a variable: NAME=value.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "boot/seating.hpp"
#include "must.hpp"

namespace tca::fuzz {

inline std::string try_launcher(std::string_view text) {
  std::vector<std::string> set;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == 0 || equals == std::string::npos || line.find('\0') != std::string::npos) continue;
    set.push_back(line.substr(0, equals));
    setenv(set.back().c_str(), line.c_str() + equals + 1, 1);
  }
  const std::string error = refusal(Errc::invalid_argument, [] {
    const boot::Seating seating = boot::find_seating();
    must(seating.rank >= 0 && seating.rank < seating.size, "no such rank", seating.told);
    must(seating.hosts >= 1 && seating.hosts <= seating.size, "no such hosts", seating.told);
    must(seating.size == 1 || !seating.path.empty(), "ranks that cannot meet", seating.told);
    must(seating.told_by.empty() || !boot::why_ranks_are_expected(seating).empty(), "no reason",
         seating.told);
  });
  for (const std::string& name : set) unsetenv(name.c_str());
  return error;
}

}  // namespace tca::fuzz
