// A rank's part of the matrix as its GPU reads it: divided into tiles, one for each block of threads.
//
// A tile has some rows and some columns. Its part of the vector that the matrix is multiplied with fits into
// the shared memory of a multiprocessor, where reading it at random costs least, and columns take two bytes.
// The products of the tiles side by side are added up afterwards. A small matrix is divided by rows alone, so
// that there is nothing to add.
//
// A tile's rows differ in length, twentyfold in all. They are sorted by it and dealt out to slices, which a
// warp multiplies in steps of 32 elements: with one lane a row, or several where rows are long and few. The
// elements of a step lie side by side. What a row lacks compared with the longest of its slice is filled with
// zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cg/matrix.hpp"
#include "tca/device/memory.hpp"

namespace tca::cg {

using device::Word;

inline constexpr Word step_elements = 32;  // one for each lane of a warp
inline constexpr Word tile_threads = 512;  // of the block that has a tile
inline constexpr Word tile_warps = tile_threads / step_elements;

struct Slice {
  Word first, width;  // steps, the first one counted from the tile's
};

struct Tile {
  Word row_begin, rows;        // counted from the rank's first row
  Word column_begin, columns;  // counted from the first column of the rank's block
  Word own_begin, own;         // its elements of vectors, counted from the rank's first
  Word sum_begin, sums;        // of its rows those of which it adds the tiles' products up
  Word first_slice, slices;
  Word steps;
  std::uint64_t first_step;
};

// How a rank's part is divided.
struct Tiling {
  Word row_parts = 1, column_parts = 1;
  Word row_lanes = 1;  // the lanes that share a row: a power of two

  TCA_DEVICE Word tiles() const { return row_parts * column_parts; }
  TCA_DEVICE Word slice_rows() const { return step_elements / row_lanes; }
};

// Chooses a tiling of at most `blocks` tiles. There are fewer where tiles would have less than a row a warp:
// they would only make sums over all blocks take longer. There are more where as few could not have their
// columns in shared memory.
Tiling tiling_for(std::int64_t rows, std::int64_t columns, Word blocks);
// So many tiles, by rows alone, with a slice a warp at most: a slice takes a warp as long as some ten steps.
Tiling tiling_by_rows(std::int64_t rows, Word blocks);

// Row_of gives for each of a slice's slice_rows() the row of the tile, or no_row.
inline constexpr Word no_row = ~Word{0};
struct TileArrays {
  Tiling tiling;
  const Tile* tiles = nullptr;  // those of the same rows one behind the other
  const Slice* slices = nullptr;
  const Word* row_of = nullptr;
  const double* value = nullptr;
  const std::uint16_t* column = nullptr;  // counted from the tile's first one
};

struct Tiles {
  Tiling tiling;
  std::vector<Tile> tile;
  std::vector<Slice> slices;
  std::vector<Word> row_of;
  std::vector<double> value;
  std::vector<std::uint16_t> column;

  // The most that a tile has.
  struct Most {
    Word rows = 0, columns = 0, own = 0, slices = 0, steps = 0;
  };
  Most most() const;
};

// Divides a block of the matrix with so many columns. A rank has so many elements of each vector, which are
// divided as the rows where they belong to them.
inline constexpr std::int64_t as_rows = -1;
Tiles make_tiles(const Matrix& matrix, std::int64_t columns, const Tiling& tiling,
                 std::int64_t elements = as_rows);

}  // namespace tca::cg
