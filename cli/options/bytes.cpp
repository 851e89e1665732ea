#include "cli/options/bytes.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <limits>

namespace tca::tool {
namespace {

constexpr std::string_view units = "KMGT";

}  // namespace

std::optional<std::int64_t> parse_bytes(std::string_view text) {
  std::int64_t bytes = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, bytes);
  if (error != std::errc()) return std::nullopt;
  std::string unit;
  for (const char* at = rest; at != end; ++at)
    unit += static_cast<char>(std::toupper(static_cast<unsigned char>(*at)));
  if (unit.empty() || unit == "B") return bytes;
  const std::size_t power = units.find(unit[0]);
  const std::string behind = unit.substr(1);
  if (power == std::string_view::npos || !(behind.empty() || behind == "B" || behind == "IB"))
    return std::nullopt;
  const std::int64_t factor = std::int64_t{1} << (10 * (power + 1));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (bytes > most / factor || bytes < -(most / factor)) return std::nullopt;
  return bytes * factor;
}

std::string bytes_in_short(std::int64_t bytes) {
  std::string unit;
  for (std::size_t power = 0; power < units.size() && bytes != 0 && bytes % 1024 == 0; ++power) {
    bytes /= 1024;
    unit = units[power];
  }
  return std::to_string(bytes) + unit;
}

CLI::Option* takes_bytes(CLI::Option* option, std::int64_t least, std::int64_t most) {
  const std::string limits = fmt::format("{} to {}", bytes_in_short(least), bytes_in_short(most));
  const auto read = [least, most, limits](std::string& text) {
    const std::optional<std::int64_t> bytes = parse_bytes(text);
    if (!bytes || *bytes < least || *bytes > most)
      return fmt::format("{} is no size from {} bytes, such as 4096, 64K or 1M (K = 1024)", text, limits);
    text = std::to_string(*bytes);
    return std::string();
  };
  return option->transform({read, limits})->type_name("SIZE");
}

}  // namespace tca::tool
