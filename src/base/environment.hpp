// Switches that a person may set in the environment.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/fail.hpp"

namespace tca::base {

// What `variable` says of `question`, "whether ..."; nothing where it is not set. Throws Error{invalid_argument} where it is neither on
// nor off.
inline std::optional<bool> on_or_off(const char* variable, std::string_view question) {
  const char* const set = std::getenv(variable);
  const std::string_view answer = set != nullptr ? set : "";
  if (answer.empty()) return std::nullopt;
  if (answer != "on" && answer != "off")
    fail(Errc::invalid_argument, "{}={} ({}): say on or off, or leave it out", variable, answer, question);
  return answer == "on";
}

}  // namespace tca::base
