// One rank's part of the matrix, in the memory of its GPU.
#pragma once

#include <optional>

#include "cg/gpu/tiles.hpp"
#include "cg/matrix.hpp"
#include "cg/partition.hpp"
#include "shared/gpu_call.hpp"
#include "tca/world.hpp"

namespace tca::cg {

class GpuMatrix {
 public:
  // Collective; the world's fabric is cuda. Generates this rank's block. Throws Error{out_of_memory}, and
  // Error{invalid_argument} when a GPU has more ranks than multiprocessors.
  GpuMatrix(World& world, const Problem& problem, const Grid& grid, const Progress& progress = {});

  const Problem& problem() const { return problem_; }
  const Share& share() const { return share_; }
  std::int64_t nonzeros() const { return nonzeros_; }

  const TileArrays& arrays() const { return arrays_; }
  const Tiles::Most& most() const { return most_; }
  unsigned blocks() const { return blocks_; }                 // that a rank may launch at once, on every rank
  std::size_t shared_bytes() const { return shared_bytes_; }  // of a block

 private:
  void upload(const Matrix& matrix);

  Problem problem_;
  Share share_;
  unsigned blocks_ = 0;
  std::size_t shared_bytes_ = 0;
  std::int64_t nonzeros_ = 0;
  Tiles::Most most_;
  TileArrays arrays_;
  std::optional<apps::DeviceArray<Tile>> tiles_;
  std::optional<apps::DeviceArray<Slice>> slices_;
  std::optional<apps::DeviceArray<Word>> row_of_;
  std::optional<apps::DeviceArray<double>> value_;
  std::optional<apps::DeviceArray<std::uint16_t>> column_;
};

}  // namespace tca::cg
