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
  arrays_.tiling = tiling_for(most_rows, most_columns, blocks_);
  upload(make_matrix(problem, share_.rows, share_.columns, progress));
}

void GpuMatrix::upload(const Matrix& matrix) {
  const Tiles tiles =
      make_tiles(matrix, share_.columns.size, arrays_.tiling, share_.whole_rows ? as_rows : share_.own.size);
  nonzeros_ = matrix.nonzeros();
  most_ = tiles.most();
  arrays_.tiles = tiles_.emplace(tiles.tile).data();
  arrays_.slices = slices_.emplace(tiles.slices).data();
  arrays_.row_of = row_of_.emplace(tiles.row_of).data();
  arrays_.value = value_.emplace(tiles.value).data();
  arrays_.column = column_.emplace(tiles.column).data();
}

}  // namespace tca::cg
