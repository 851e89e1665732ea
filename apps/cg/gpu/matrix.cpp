#include "cg/gpu/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cg/gpu/kernels.hpp"
#include "tca/error.hpp"

namespace tca::cg {

using namespace apps;

namespace {

// Throws Error{out_of_memory}, on all ranks alike, before a matrix is generated that does not fit.
void check_memory(World& world, const Problem& problem, const Share& share) {
  constexpr double element = sizeof(double) + sizeof(std::uint16_t), filled = 1.1;
  const double vectors = problem.nonzeros + 1, n = static_cast<double>(problem.n);
  const double elements = vectors * vectors * static_cast<double>(share.rows.size) *
                          (static_cast<double>(share.columns.size) / n);
  std::size_t here = 0, total = 0;
  cuda_ok(cudaMemGetInfo(&here, &total), "asking for the GPU's memory");
  struct Need {
    double needed, free;
  };
  const Need own{filled * elements * element, static_cast<double>(here) / world.ranks_on_device()};
  for (const auto& [needed, free] : world.all_gather(own)) {
    if (needed > free)
      throw Error(
          Errc::out_of_memory,
          fmt::format("class {} needs about {:.1f} GB of each rank's GPU, and one has {:.1f} for a rank; "
                      "take more GPUs, or a smaller class",
                      problem.name, needed * 1e-9, free * 1e-9));
  }
}

}  // namespace

// The ranks on one GPU get equal shares of it, because their kernels wait for each other, and all ranks
// launch equally many blocks.
GpuMatrix::GpuMatrix(World& world, const Problem& problem, const Grid& grid, const Progress& progress)
    : problem_(problem), share_(share_of(problem, grid, world.rank())) {
  const auto ranks = static_cast<unsigned>(world.ranks_on_device());
  cuda_ok(blocks_at_once(ranks, blocks_, shared_bytes_), "asking how many blocks run at once");
  blocks_ = std::ranges::min(world.all_gather(blocks_));
  shared_bytes_ = std::ranges::min(world.all_gather(shared_bytes_));
  if (blocks_ == 0)
    throw Error(Errc::invalid_argument,
                fmt::format("{} ranks share a GPU; each needs a multiprocessor at least", ranks));
  check_memory(world, problem, share_);
  const std::int64_t most_rows = std::ranges::max(world.all_gather(share_.rows.size));
  const std::int64_t most_columns = std::ranges::max(world.all_gather(share_.columns.size));
  const Matrix matrix = make_matrix(problem, share_.rows, share_.columns, progress);
  nonzeros_ = matrix.nonzeros();
  tiles_.emplace(make_tiles(matrix, share_.columns.size, tiling_for(most_rows, most_columns, blocks_),
                            share_.whole_rows ? as_rows : share_.own.size));
  if (share_.whole_rows) divide_among_cluster(world, matrix, most_rows);
}

void GpuMatrix::divide_among_cluster(World& world, const Matrix& matrix, std::int64_t most_rows) {
  unsigned blocks = 0;
  cuda_ok(cluster_at_once(static_cast<unsigned>(world.ranks_on_device()), blocks, clustered_bytes_),
          "asking for clusters");
  blocks = std::ranges::min(world.all_gather(blocks));
  clustered_bytes_ = std::ranges::min(world.all_gather(clustered_bytes_));
  const std::int64_t most_elements = std::ranges::max(world.all_gather(nonzeros_));
  constexpr std::size_t element = sizeof(double) + sizeof(std::uint16_t);
  if (static_cast<std::size_t>(most_elements) * element <= blocks * clustered_bytes_)
    clustered_.emplace(make_tiles(matrix, share_.columns.size, tiling_by_rows(most_rows, blocks)));
}

GpuTiles::GpuTiles(const Tiles& tiles)
    : most_(tiles.most()),
      tiles_(tiles.tile),
      slices_(tiles.slices),
      row_of_(tiles.row_of),
      value_(tiles.value),
      column_(tiles.column),
      arrays_{tiles.tiling, tiles_.data(), slices_.data(), row_of_.data(), value_.data(), column_.data()} {}

}  // namespace tca::cg
