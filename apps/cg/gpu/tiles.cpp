#include "cg/gpu/tiles.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace tca::cg {

namespace {

// Up to so many columns a block copies all of a vector in less time than it would take to add up the products
// of several tiles: an iteration of class A takes 11.1 us on an H100, and 13.1 by tiles.
constexpr std::int64_t few_columns = 16'384;
// So many fit into shared memory beside what else a block keeps there, and into a column's two bytes.
constexpr std::int64_t most_columns = 20'000;

Word parts_of(std::int64_t size, std::int64_t most) { return static_cast<Word>((size + most - 1) / most); }

// The begin of a part, of so many parts that are equally large, or nearly so.
Word begin_of(Word part, Word parts, Word size) {
  return static_cast<Word>(std::uint64_t{size} * part / parts);
}

// Divides rows so that each part has about equally many elements.
std::vector<Word> row_bounds(const Matrix& matrix, Word parts) {
  std::vector<Word> bounds;
  for (Word part = 0; part <= parts; ++part) {
    const std::int64_t elements = matrix.nonzeros() * part / parts;
    bounds.push_back(
        static_cast<Word>(std::ranges::lower_bound(matrix.row_begin, elements) - matrix.row_begin.begin()));
  }
  bounds.back() = static_cast<Word>(matrix.rows());
  return bounds;
}

// The pieces into which the tiles divide the rows.
struct Pieces {
  Pieces(const Matrix& matrix, Word columns, const Tiling& tiling)
      : parts(tiling.column_parts),
        part_of(columns),
        length(static_cast<std::size_t>(matrix.rows()) * parts),
        place(length.size()) {
    for (Word part = 0; part < parts; ++part)
      std::fill(part_of.begin() + begin_of(part, parts, columns),
                part_of.begin() + begin_of(part + 1, parts, columns), part);
    for_each(matrix, [&](std::size_t piece, std::size_t) { ++length[piece]; });
  }

  // Calls act(piece, element) for every element, in the order of the matrix.
  template <class Act>
  void for_each(const Matrix& matrix, const Act& act) const {
    for (std::size_t row = 0; row + 1 < matrix.row_begin.size(); ++row)
      for (auto k = static_cast<std::size_t>(matrix.row_begin[row]);
           k < static_cast<std::size_t>(matrix.row_begin[row + 1]); ++k)
        act(row * parts + part_of[static_cast<std::size_t>(matrix.column[k])], k);
  }

  Word parts;
  std::vector<Word> part_of;  // by column
  std::vector<Word> length;
  std::vector<std::uint64_t> place;  // of a piece's first element among those of all tiles
};

// Puts the slices of a tile, of which the widest come first, into an order in which each of the warps that
// take them by turns gets about as much to do: every other round goes backwards.
void balance(std::vector<std::vector<Word>>& slices) {
  for (std::size_t begin = tile_warps; begin + tile_warps <= slices.size(); begin += 2 * tile_warps)
    std::reverse(slices.begin() + static_cast<std::ptrdiff_t>(begin),
                 slices.begin() + static_cast<std::ptrdiff_t>(begin + tile_warps));
}

// Returns a tile's rows by slices.
std::vector<std::vector<Word>> slices_of(const Tile& tile, Word part, const Tiling& tiling,
                                         const Pieces& pieces) {
  const auto length = [&](Word row) {
    return pieces.length[std::size_t{tile.row_begin + row} * pieces.parts + part];
  };
  std::vector<Word> rows(tile.rows);
  std::iota(rows.begin(), rows.end(), Word{0});
  std::ranges::stable_sort(rows, [&](Word a, Word b) { return length(a) > length(b); });
  std::vector<std::vector<Word>> slices;
  for (std::size_t begin = 0; begin < rows.size(); begin += tiling.slice_rows()) {
    const std::size_t end = std::min<std::size_t>(begin + tiling.slice_rows(), rows.size());
    slices.emplace_back(rows.begin() + static_cast<std::ptrdiff_t>(begin),
                        rows.begin() + static_cast<std::ptrdiff_t>(end));
  }
  balance(slices);
  return slices;
}

// Appends a tile's slices, and says where its pieces will be.
void append_slices(Tiles& tiles, Tile& tile, Word part, Pieces& pieces) {
  const Tiling& tiling = tiles.tiling;
  for (const std::vector<Word>& rows : slices_of(tile, part, tiling, pieces)) {
    Slice slice{tile.steps, 0};
    for (std::size_t k = 0; k < tiling.slice_rows(); ++k) {
      tiles.row_of.push_back(k < rows.size() ? rows[k] : no_row);
      if (k >= rows.size()) continue;
      const std::size_t piece = std::size_t{tile.row_begin + rows[k]} * pieces.parts + part;
      slice.width = std::max(slice.width, (pieces.length[piece] + tiling.row_lanes - 1) / tiling.row_lanes);
      pieces.place[piece] = (tile.first_step + slice.first) * step_elements + k * tiling.row_lanes;
    }
    tiles.slices.push_back(slice);
    tile.steps += slice.width;
  }
  tile.slices = static_cast<Word>(tiles.slices.size()) - tile.first_slice;
}

}  // namespace

Tiling tiling_for(std::int64_t rows, std::int64_t columns, Word blocks) {
  const Word of_columns = parts_of(columns, most_columns);
  Tiling tiling;
  if (columns <= few_columns) {
    tiling.row_parts = std::clamp(parts_of(rows, tile_warps), Word{1}, blocks);
  } else {
    // What a block copies of a vector, and what it adds up, are least where tiles are about square.
    const auto square = static_cast<Word>(std::lround(std::sqrt(blocks)));
    tiling.column_parts = std::max(square, of_columns);
    tiling.row_parts = std::max(blocks / tiling.column_parts, Word{1});
  }
  // Enough slices for every warp to have one, and some more to even their lengths out.
  constexpr std::int64_t least_slices = tile_warps + tile_warps / 2;
  const std::int64_t tile_rows = (rows + tiling.row_parts - 1) / tiling.row_parts;
  while (tiling.row_lanes < step_elements && tile_rows * tiling.row_lanes / step_elements < least_slices)
    tiling.row_lanes *= 2;
  return tiling;
}

Tiling tiling_by_rows(std::int64_t rows, Word blocks) {
  Tiling tiling{.row_parts = blocks};
  while (tiling.row_lanes < step_elements &&
         2 * tiling.row_lanes * rows <= std::int64_t{blocks} * tile_warps * step_elements)
    tiling.row_lanes *= 2;
  return tiling;
}

Tiles make_tiles(const Matrix& matrix, std::int64_t columns, const Tiling& tiling, std::int64_t elements) {
  const auto width = static_cast<Word>(columns);
  const std::vector<Word> bounds = row_bounds(matrix, tiling.row_parts);
  Pieces pieces(matrix, width, tiling);
  Tiles tiles{.tiling = tiling, .tile = {}, .slices = {}, .row_of = {}, .value = {}, .column = {}};
  std::uint64_t steps = 0;
  for (Word i = 0; i < tiling.row_parts; ++i) {
    for (Word j = 0; j < tiling.column_parts; ++j) {
      const Word rows = bounds[i + 1] - bounds[i], first = begin_of(j, tiling.column_parts, width);
      const Word sum_begin = begin_of(j, tiling.column_parts, rows);
      const Word sums = begin_of(j + 1, tiling.column_parts, rows) - sum_begin;
      Tile tile{.row_begin = bounds[i],
                .rows = rows,
                .column_begin = first,
                .columns = begin_of(j + 1, tiling.column_parts, width) - first,
                .own_begin = bounds[i] + sum_begin,
                .own = sums,
                .sum_begin = bounds[i] + sum_begin,
                .sums = sums,
                .first_slice = static_cast<Word>(tiles.slices.size()),
                .slices = 0,
                .steps = 0,
                .first_step = steps};
      if (elements != as_rows) {
        const Word number = i * tiling.column_parts + j, of = tiling.tiles();
        tile.own_begin = begin_of(number, of, static_cast<Word>(elements));
        tile.own = begin_of(number + 1, of, static_cast<Word>(elements)) - tile.own_begin;
      }
      append_slices(tiles, tile, j, pieces);
      steps += tile.steps;
      tiles.tile.push_back(tile);
    }
  }
  tiles.value.resize(steps * step_elements);
  tiles.column.resize(steps * step_elements);
  std::ranges::fill(pieces.length, Word{0});
  pieces.for_each(matrix, [&](std::size_t piece, std::size_t element) {
    const Word n = pieces.length[piece]++;
    const std::uint64_t at =
        pieces.place[piece] + std::uint64_t{n / tiling.row_lanes} * step_elements + n % tiling.row_lanes;
    tiles.value[at] = matrix.value[element];
    const auto column = static_cast<Word>(matrix.column[element]);
    tiles.column[at] =
        static_cast<std::uint16_t>(column - begin_of(pieces.part_of[column], tiling.column_parts, width));
  });
  return tiles;
}

Tiles::Most Tiles::most() const {
  Most most;
  for (const Tile& one : tile) {
    most.rows = std::max(most.rows, one.rows);
    most.columns = std::max(most.columns, one.columns);
    most.own = std::max(most.own, one.own);
    most.slices = std::max(most.slices, one.slices);
    most.steps = std::max(most.steps, one.steps);
  }
  return most;
}

}  // namespace tca::cg
