// Durations as people write them: "20us", "1.5ms".
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace tca::base {

// Returns the number of microseconds in a text that uses ns, us, ms or s; nothing if it is no duration, or
// less than 0.
inline std::optional<double> read_microseconds(std::string_view text) {
  double number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(last - end));
  const double us = unit == "ns" ? 1e-3 : unit == "us" ? 1 : unit == "ms" ? 1e3 : unit == "s" ? 1e6 : 0;
  return us == 0 ? std::nullopt : std::optional(number * us);
}

}  // namespace tca::base
