// What a person may set in the environment.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/fail.hpp"

namespace tca::base {

// Null where it is not set or empty: what a script has set to nothing is not set.
inline const char* set_variable(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

// What `variable` says of `question`, "whether ..."; nothing where it is not set. Throws Error{invalid_argument} where it is neither on
// nor off.
inline std::optional<bool> on_or_off(const char* variable, std::string_view question) {
  const char* const set = set_variable(variable);
  if (set == nullptr) return std::nullopt;
  const std::string_view answer = set;
  if (answer != "on" && answer != "off")
    fail(Errc::invalid_argument, "{}={} ({}): say on or off, or leave it out", variable, answer, question);
  return answer == "on";
}

}  // namespace tca::base
