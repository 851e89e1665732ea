#include "cg/gpu/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cg/gpu/kernels.hpp"
#include "tca/error.hpp"

namespace tca::cg {

using namespace apps;

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
  const std::int64_t most_rows = std::ranges::max(world.all_gather(share_.rows.size));
  const std::int64_t most_columns = std::ranges::max(world.all_gather(share_.columns.size));
  arrays_.tiling = tiling_for(most_rows, most_columns, blocks_);
  upload(make_matrix(problem, share_.rows, share_.columns, progress));
}

void GpuMatrix::upload(const Matrix& matrix) {
  const Tiles tiles = make_tiles(matrix, share_.columns.size, arrays_.tiling);
  nonzeros_ = matrix.nonzeros();
  most_ = tiles.most();
  arrays_.tiles = tiles_.emplace(tiles.tile).data();
  arrays_.slices = slices_.emplace(tiles.slices).data();
  arrays_.row_of = row_of_.emplace(tiles.row_of).data();
  arrays_.value = value_.emplace(tiles.value).data();
  arrays_.column = column_.emplace(tiles.column).data();
}

}  // namespace tca::cg
