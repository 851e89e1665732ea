#include "model/solvers.hpp"

#include <algorithm>
#include <cmath>

#include "tca/grid.hpp"

namespace tca::tool {

namespace {

constexpr std::int64_t part(std::int64_t whole, std::uint32_t parts) { return (whole + parts - 1) / parts; }

constexpr double as_double(std::int64_t count) { return static_cast<double>(count); }

}  // namespace

// As apps/cg/partition.cpp divides it: a product leaves sums of rows, which the ranks of a row of the grid add
// up by exchanges, and an exchange across the diagonal turns what belongs to rows into what belongs to columns.
void add_cg(Loop& loop, const SparseMatrix& matrix, const std::array<std::uint32_t, 2>& grid) {
  const auto [rows, columns] = grid;
  const std::uint32_t doubled = columns / rows;
  const std::int64_t own_rows = part(matrix.rows, rows), own_columns = part(matrix.rows, columns);
  const std::uint64_t summed = static_cast<std::uint64_t>(own_columns) * sizeof(double);
  const double elements = as_double(matrix.rows) * as_double(matrix.elements_of_a_row) / rows / columns;
  const double vector = as_double(own_columns), word = sizeof(double);
  loop.kernel("multiply", elements * (word + sizeof(std::int32_t)) + as_double(own_rows + own_columns) * word,
              2 * elements);
  for (std::uint32_t bit = 1; bit < columns; bit *= 2) {
    loop.exchange(1, false, [=](std::uint32_t, std::uint32_t rank, const Loop::Put& put) {
      put(rank / columns * columns + (rank % columns ^ bit), summed);
    });
    loop.kernel("add", 3 * vector * word, vector);
  }
  loop.exchange(1, false, [=](std::uint32_t, std::uint32_t rank, const Loop::Put& put) {
    const std::uint32_t row = rank / columns, column = rank % columns;
    const std::uint32_t across = column / doubled * columns + row * doubled + column % doubled;
    if (across != rank) put(across, summed);
  });
  loop.kernel("four dots", 3 * vector * word, 8 * vector);
  loop.sum();
  loop.kernel("advance and turn", 7 * vector * word, 6 * vector);
}

// The bytes and operations are those that apps/qcd tells a modelled machine: nothing is found in caches.
void add_qcd(Loop& loop, const std::array<std::int64_t, 4>& lattice, const std::array<std::uint32_t, 4>& grid,
             std::uint64_t element) {
  constexpr double spinor = 24, half_spinor = 12, link = 18, hop_flops = 1320, projection_flops = 144;
  const Grid ranks(static_cast<int>(grid[0] * grid[1] * grid[2] * grid[3]), {grid.begin(), grid.end()},
                   {true, true, true, true});
  std::int64_t sites = 1;
  std::array<std::int64_t, 4> own{}, face{};
  for (std::size_t d = 0; d < 4; ++d) sites *= own[d] = part(lattice[d], grid[d]);
  double slots = 0;  // of half the sites, even or odd ones
  for (std::size_t d = 0; d < 4; ++d) {
    face[d] = grid[d] > 1 ? part(sites / own[d], 2) : 0;
    slots += 2 * as_double(face[d]);
  }
  const double real = static_cast<double>(element), half = as_double(sites) / 2;
  const auto hop = [&] {
    loop.kernel("project", slots * (spinor + half_spinor + link) * real, slots * projection_flops);
    for (std::size_t d = 0; d < 4; ++d) {
      if (grid[d] == 1) continue;
      loop.exchange(1, false, [&, d](std::uint32_t, std::uint32_t rank, const Loop::Put& put) {
        for (const int way : {-1, 1}) {
          Grid::Coordinates step{};
          step[d] = way;
          put(static_cast<std::uint32_t>(*ranks.neighbour(static_cast<int>(rank), step)),
              static_cast<std::uint64_t>(as_double(face[d]) * half_spinor * real));
        }
      });
    }
    loop.kernel("hop", half * (10 * spinor + 8 * link) * real, half * hop_flops);
  };
  const auto vectors = [&](std::string_view what, double count, double flops) {
    loop.kernel(what, half * spinor * count * real, half * spinor * flops);
  };
  for (int apply = 0; apply < 2; ++apply) {  // the operator, and its adjoint
    hop();
    hop();
    vectors("norms", 2, 4);
    loop.sum();
    apply == 0 ? vectors("advance", 6, 4) : vectors("turn", 3, 2);
  }
}

// As apps/fft/decomposition.hpp divides it, all of an array at once.
void add_fft(Loop& loop, const std::array<std::int64_t, 3>& extents,
             const std::array<std::uint32_t, 2>& grid) {
  const auto [rows, columns] = grid;
  constexpr std::uint32_t most_at_once = 4;  // messages of a rank, as MPI libraries throttle them
  const std::uint32_t ranks = rows * columns;
  const double points = as_double(extents[0]) * as_double(extents[1]) * as_double(extents[2]) / ranks;
  constexpr double number = 2 * sizeof(double);
  const auto transform = [&](std::string_view what, std::int64_t length) {
    loop.kernel(what, 2 * number * points, 5 * points * std::log2(as_double(length)));
  };
  // Within each row or column of the grid everyone sends everyone a part, a few at a time, and begins behind
  // itself.
  const auto transpose = [&](std::uint32_t parts, std::uint32_t stride) {
    const auto bytes = static_cast<std::uint64_t>(number * points / parts);
    if (parts == 1) return;
    loop.exchange((parts + most_at_once - 2) / most_at_once, true,
                  [=](std::uint32_t step, std::uint32_t rank, const Loop::Put& put) {
                    const std::uint32_t own = rank / stride % parts, first = rank - own * stride;
                    const std::uint32_t begin = 1 + step * most_at_once;
                    for (std::uint32_t i = begin; i < std::min(parts, begin + most_at_once); ++i)
                      put(first + (own + i) % parts * stride, bytes);
                  });
  };
  transform("transform z", extents[2]);
  transpose(columns, 1);
  transform("transform y", extents[1]);
  transpose(rows, columns);
  transform("transform x", extents[0]);
}

}  // namespace tca::tool
