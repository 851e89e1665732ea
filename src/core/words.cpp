#include "core/words.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tca::core {

std::string in_words(base::ByteRange bytes, std::size_t element_bytes, const std::string& window, int rank) {
  const auto size = static_cast<std::int64_t>(element_bytes);
  const std::int64_t first = bytes.begin / size, last = (bytes.end - 1) / size;
  const std::string elements =
      first == last ? fmt::format("element {}", first) : fmt::format("elements {} to {}", first, last);
  return fmt::format("{} (bytes {} to {}) of {} on rank {}", elements, bytes.begin, bytes.end, window, rank);
}

std::string in_columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()));
    for (std::size_t c = 0; c + 1 < row.size(); ++c) width[c] = std::max(width[c], row[c].size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t c = 0; c + 1 < row.size(); ++c) text += fmt::format("  {:<{}}", row[c], width[c]);
    text += fmt::format("  {}\n", row.back());
  }
  return text;
}

std::string count_in_words(std::int64_t elements) {
  return fmt::format("{} element{}", elements, elements == 1 ? "" : "s");
}

}  // namespace tca::core
