#include "channels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <regex>
#include <set>
#include <sstream>

namespace tca::bench {

std::map<std::string, int> channels_in(const std::string& explain) {
  static const std::regex channel("[a-z]+/[a-z_]+");
  std::map<std::string, int> channels;
  static const std::regex quoted("'[^']*'");  // names of the program, which may hold anything
  std::istringstream lines(std::regex_replace(explain, quoted, ""));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_search(line, found, channel)) ++channels[found.str()];
  }
  return channels;
}

std::string protocols_in(const std::string& explain) {
  std::set<std::string> names;
  for (const auto& [channel, puts] : channels_in(explain))
    names.insert(channel.substr(channel.find('/') + 1));
  return fmt::format("{}", fmt::join(names, "+"));
}

}  // namespace tca::bench
