#include "net/machine_names.hpp"

#include <fmt/format.h>

#include <vector>

namespace tca::net {

namespace {

bool is_bare(std::string_view name) {
  return name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") ==
         std::string_view::npos;
}

}  // namespace

std::string heading(std::string_view path) {
  if (path.empty()) return "the file";
  std::string text = "[";
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string_view name = path.substr(at, slash - at);
    if (at != 0) text += '.';
    text += is_bare(name) ? std::string(name) : fmt::format("\"{}\"", name);
    at = slash + 1;
  }
  return text + "]";
}

std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (const char letter : a) {
    std::size_t diagonal = row[0]++;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t change = diagonal + (letter == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace tca::net
