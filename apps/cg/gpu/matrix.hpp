// One rank's part of the matrix, in the memory of its GPU.
#pragma once

#include <optional>

#include "cg/gpu/tiles.hpp"
#include "cg/matrix.hpp"
#include "cg/partition.hpp"
#include "shared/gpu_call.hpp"
#include "tca/world.hpp"

namespace tca::cg {

// Tiles in the memory of a GPU.
class GpuTiles {
 public:
  explicit GpuTiles(const Tiles& tiles);
  const TileArrays& arrays() const { return arrays_; }
  const Tiles::Most& most() const { return most_; }

 private:
  Tiles::Most most_;
  apps::DeviceArray<Tile> tiles_;
  apps::DeviceArray<Slice> slices_;
  apps::DeviceArray<Word> row_of_;
  apps::DeviceArray<double> value_;
  apps::DeviceArray<std::uint16_t> column_;
  TileArrays arrays_;
};

class GpuMatrix {
 public:
  // Collective; the world's fabric is cuda. Generates this rank's block. Throws Error{out_of_memory}, and
  // Error{invalid_argument} when a GPU has more ranks than multiprocessors.
  GpuMatrix(World& world, const Problem& problem, const Grid& grid, const Progress& progress = {});

  const Problem& problem() const { return problem_; }
  const Share& share() const { return share_; }
  std::int64_t nonzeros() const { return nonzeros_; }

  const TileArrays& arrays() const { return tiles_->arrays(); }
  const Tiles::Most& most() const { return tiles_->most(); }
  unsigned blocks() const { return blocks_; }                 // that a rank may launch at once, on every rank
  std::size_t shared_bytes() const { return shared_bytes_; }  // of a block

  // The same for the blocks of one cluster. Null, on all ranks alike, where none could hold the matrix.
  const GpuTiles* clustered() const { return clustered_ ? &*clustered_ : nullptr; }
  std::size_t clustered_bytes() const { return clustered_bytes_; }

 private:
  void divide_among_cluster(World& world, const Matrix& matrix, std::int64_t most_rows);

  Problem problem_;
  Share share_;
  unsigned blocks_ = 0;
  std::size_t shared_bytes_ = 0, clustered_bytes_ = 0;
  std::int64_t nonzeros_ = 0;
  std::optional<GpuTiles> tiles_, clustered_;
};

}  // namespace tca::cg
