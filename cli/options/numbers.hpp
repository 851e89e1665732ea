// Checks the numbers given to options before a conversion could change them, such as -1 into 2^64 - 1.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <concepts>
#include <limits>
#include <string>

namespace tca::tool {

// A check for numbers from `least` to `most`, which must be whole when `Number` is an integer type.
template <class Number>
CLI::Validator between(Number least, Number most) {
  const auto check = [least, most](const std::string& text) {
    Number value{};
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_read = error == std::errc() && rest == text.data() + text.size();
    if (is_read && value >= least && value <= most) return std::string();
    return fmt::format("{} is no {} from {} to {}", text, std::integral<Number> ? "whole number" : "number",
                       least, most);
  };
  const bool is_limited = most < std::numeric_limits<Number>::max();
  return {check, is_limited ? fmt::format("{} to {}", least, most) : std::string()};
}

// A check for numbers above 0.
inline CLI::Validator above_zero() {
  const auto check = [](const std::string& text) {
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool is_read = error == std::errc() && rest == text.data() + text.size();
    return is_read && value > 0 ? std::string() : fmt::format("{} is no number above 0", text);
  };
  return {check, "above 0"};
}

}  // namespace tca::tool
