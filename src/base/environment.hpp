// Reads the environment variables that a user may set.
#pragma once

#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/fail.hpp"

namespace tca::base {

// Returns the value of a variable, or null when it is unset or empty: a script may have set it to nothing.
inline const char* set_variable(const char* variable) {
  const char* const text = std::getenv(variable);
  return text != nullptr && *text != '\0' ? text : nullptr;
}

// Returns whether `variable` is on or off; nothing when it is not set. Throws Error{invalid_argument} for any
// other value; the message names the `question` that the variable answers ("whether ...").
inline std::optional<bool> on_or_off(const char* variable, std::string_view question) {
  const char* const set = set_variable(variable);
  if (set == nullptr) return std::nullopt;
  const std::string_view answer = set;
  if (answer != "on" && answer != "off")
    fail(Errc::invalid_argument, "{}={} ({}): say on or off, or leave it out", variable, answer, question);
  return answer == "on";
}

}  // namespace tca::base
