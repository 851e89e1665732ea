#include <fmt/format.h>

#include "bfs/gpu/way.hpp"
#include "shared/gpu_sum.hpp"
#include "tca/error.hpp"

namespace tca::bfs {

Start start_named(std::string_view name) {
  for (const Start one : {Start::automatic, Start::host, Start::graph, Start::kernel, Start::resident})
    if (name == name_of(one)) return one;
  throw Error(
      Errc::invalid_argument,
      fmt::format("there is no start \"{}\"; choose one of auto, host, graph, kernel and resident", name));
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

std::unique_ptr<GpuWay> make_way(World& world, const GpuGraph& graph, Style style, Start start,
                                 const apps::Channels& channels) {
  if (style == Style::paper) return paper_way(world, graph, start, channels);
  if (start == Start::kernel || start == Start::resident) return kernel_way(world, graph, start);
  return step_way(world, graph, direct_gpu_exchange, start, channels);
}

Start chosen_start(const World& world, Style style) {
  return style == Style::packed && apps::is_one_sub_cluster(world) ? Start::resident : Start::graph;
}

}  // namespace tca::bfs
