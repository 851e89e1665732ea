#include "model/machine/machine_names.hpp"

#include <fmt/format.h>

#include <algorithm>

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

}  // namespace tca::net
