#include "shared/start.hpp"

#include <fmt/ranges.h>

#include <vector>

#include "tca/error.hpp"

namespace tca::apps {

Start start_named(std::string_view name, std::span<const Start> choices) {
  std::vector<std::string_view> names;
  for (const Start one : choices) {
    if (name == name_of(one)) return one;
    names.push_back(name_of(one));
  }
  const std::string_view last = names.back();
  names.pop_back();
  throw Error(Errc::invalid_argument, fmt::format("there is no start \"{}\"; choose one of {} and {}", name,
                                                  fmt::join(names, ", "), last));
}

std::string_view name_of(Start start) {
  switch (start) {
    case Start::host:
      return "host";
    case Start::graph:
      return "graph";
    case Start::kernel:
      return "kernel";
    case Start::resident:
      return "resident";
    default:
      return "auto";
  }
}

}  // namespace tca::apps
