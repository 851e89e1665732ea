#include "cg/gpu/kernels.hpp"
#include "cg/gpu/way.hpp"
#include "shared/gpu_sum.hpp"

namespace tca::cg {

Start chosen_start(World& world, const Share& share) {
  return apps::is_one_sub_cluster(world) && share.reductions.size() <= BlockChains::most_reductions
             ? Start::kernel
             : Start::graph;
}

std::unique_ptr<Way> kernel_way(World& world, const GpuMatrix& matrix, Order order,
                                const apps::Channels& channels) {
  if (auto way = cluster_way(world, matrix, order)) return way;
  return grid_way(world, matrix, order, channels);
}

}  // namespace tca::cg
