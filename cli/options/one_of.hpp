// Checks the words given to an option against those that it knows.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

namespace tca::tool {

inline CLI::Validator one_of(const std::vector<std::string>& words) {
  const auto check = [words](const std::string& text) {
    if (std::ranges::find(words, text) != words.end()) return std::string();
    return fmt::format("`{}`: choose {}{}", text, fmt::join(words.begin(), words.end() - 1, ", "),
                       words.size() > 1 ? " or " + words.back() : words.back());
  };
  return {check, fmt::format("{}", fmt::join(words, "|"))};
}

}  // namespace tca::tool
