#include "bfs/gpu/way.hpp"
#include "shared/gpu_sum.hpp"

namespace tca::bfs {

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
