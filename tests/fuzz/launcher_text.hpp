// Any environment gives this process a place among ranks, or is refused. A line of the text is a variable: NAME=value.
#pragma once

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "boot/launch_info.hpp"
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
    const boot::LaunchInfo launch = boot::find_launch_info();
    must(launch.rank >= 0 && launch.rank < launch.size, "no such rank", launch.told);
    must(launch.hosts >= 1 && launch.hosts <= launch.size, "no such hosts", launch.told);
    must(launch.size == 1 || !launch.path.empty(), "ranks that cannot meet", launch.told);
    must(launch.rank_variable.empty() || !boot::why_ranks_are_expected(launch).empty(), "no reason",
         launch.told);
  });
  for (const std::string& name : set) unsetenv(name.c_str());
  return error;
}

}  // namespace tca::fuzz
