#include "cli/options/extents.hpp"

#include <array>
#include <charconv>
#include <functional>
#include <numeric>

#include "cli/options/refuse.hpp"

namespace tca::tool {

std::optional<std::vector<std::int64_t>> parse_extents(std::string_view option, std::string_view text) {
  constexpr std::int64_t most = 1 << 24;
  std::vector<std::int64_t> extents;
  bool is_possible = true;
  const char *at = text.data(), *const end = at + text.size();
  while (true) {
    std::int64_t extent = 0;
    const auto [rest, error] = std::from_chars(at, end, extent);
    if (error == std::errc::invalid_argument) return std::nullopt;
    is_possible &= error == std::errc() && extent >= 1 && extent <= most;
    extents.push_back(extent);
    if (rest == end) break;
    if (*rest != 'x' && *rest != ',') return std::nullopt;
    at = rest + 1;
  }
  if (!is_possible) refuse("{} {}: each number must be from 1 to {}", option, text, most);
  return extents;
}

std::vector<int> parse_grid(std::string_view text, std::size_t dims, int ranks) {
  const auto extents = parse_extents("--grid", text);
  if (!extents || extents->size() != dims) {
    constexpr std::array words{"two", "three", "four"}, examples{"2x2", "2x2x1", "1x1x2x2"};
    refuse("--grid {}: give {} numbers of ranks, such as {}, or auto", text, words[dims - 2],
           examples[dims - 2]);
  }
  // The product of four extents of 24 bits overflows an integer, hence a double.
  const double held = std::accumulate(extents->begin(), extents->end(), 1.0, std::multiplies<>());
  if (held != ranks) refuse("--grid {} holds {:.0f} ranks, not {}", text, held, ranks);
  return {extents->begin(), extents->end()};
}

}  // namespace tca::tool
