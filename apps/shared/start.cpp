#include "shared/start.hpp"

#include <fmt/format.h>

#include "tca/error.hpp"

namespace tca::apps {

Start start_named(std::string_view name) {
  for (const Start one : {Start::automatic, Start::host, Start::graph, Start::kernel})
    if (name == name_of(one)) return one;
  throw Error(Errc::invalid_argument,
              fmt::format("there is no start \"{}\"; choose one of auto, host, graph and kernel", name));
}

std::string_view name_of(Start start) {
  switch (start) {
    case Start::host:
      return "host";
    case Start::graph:
      return "graph";
    case Start::kernel:
      return "kernel";
    default:
      return "auto";
  }
}

}  // namespace tca::apps
