#include "qcd/files/headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>

#include "tca/error.hpp"

namespace tca::qcd {
namespace {

// Parses the whole text as one number, or returns nothing. `format` is the base of an integer, and left out
// for reals.
template <class Number, class... Format>
std::optional<Number> parsed(std::string_view text, Format... format) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, format...);
  return error == std::errc() && rest == end ? std::optional(number) : std::nullopt;
}

std::string_view without(std::string_view prefix, std::string_view text) {
  return text.starts_with(prefix) ? text.substr(prefix.size()) : text;
}

// Returns half a unit of the last digit behind the decimal point. A number without a point counts as exact,
// because programs write 1 for the averages of links that are all one.
double rounding_of(std::string_view text) {
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return 0;
  const std::size_t end = std::min(text.find_first_of("eE", point), text.size());
  const auto digits = static_cast<int>(end - point) - 1;
  if (digits == 0) return 0;
  const int exponent = end < text.size() ? parsed<int>(without("+", text.substr(end + 1))).value_or(0) : 0;
  return 0.5 * std::pow(10.0, exponent - digits);
}

[[noreturn]] void refuse_number(const HeaderValue& value, const char* what, const std::string& path) {
  refuse(path,
         fmt::format("its {} says {} for {}, which is no {}", value.header, value.text, value.name, what));
}

// Numbers in hexadecimal may begin so.
std::string_view without_base(std::string_view text) {
  for (const std::string_view base : {"0x", "0X"})
    if (text.starts_with(base)) return text.substr(base.size());
  return text;
}

}  // namespace

void refuse(const std::string& path, const std::string& what) {
  throw Error(Errc::invalid_argument, fmt::format("{}: {}", path, what));
}

std::int64_t whole_number(const HeaderValue& value, const std::string& path) {
  const auto number = parsed<std::int64_t>(without("+", value.text));
  if (!number) refuse_number(value, "whole number", path);
  return *number;
}

Written real_number(const HeaderValue& value, const std::string& path) {
  const auto number = parsed<double>(without("+", value.text));
  if (!number || !std::isfinite(*number)) refuse_number(value, "number", path);
  return {*number, rounding_of(value.text)};
}

std::uint32_t checksum_number(const HeaderValue& value, const std::string& path) {
  const auto number = parsed<std::uint32_t>(without_base(value.text), 16);
  if (!number) refuse_number(value, "hexadecimal number of 32 bits", path);
  return *number;
}

std::string trimmed(const std::string& text) {
  constexpr const char* white = " \t\r\n";
  const std::size_t first = text.find_first_not_of(white), last = text.find_last_not_of(white);
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

HeaderValue Header::value(const std::string& entry, const std::string& path) const {
  const auto found = entries.find(entry);
  if (found == entries.end()) refuse(path, fmt::format("its {} has no {}", name, entry));
  if (entries.count(entry) > 1) {
    refuse(path, fmt::format(
                     "its {} has a second {}, and nothing says which of the two holds; take one of them out",
                     name, entry));
  }
  return {name, entry, found->second};
}

void check_extents(const Contents& contents, const std::string& path) {
  constexpr std::int64_t most = 4096;
  for (const std::int64_t extent : contents.extents)
    if (extent < 1 || extent > most)
      refuse(path, fmt::format("its header says {} sites along a dimension", extent));
}

}  // namespace tca::qcd
