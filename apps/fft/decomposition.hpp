// How a three-dimensional array is divided among ranks that transform it dimension by dimension. Its dimensions are x, the
// slowest, y, and z, which is contiguous.
//
// Ranks form a grid of rows and columns. A rank first has all of z, and transforms along it:
//
//     before        [x by rows] [y by columns] [z]
//     in between    [x by rows] [y] [z by columns]      after an exchange within each row of the grid
//     after         [x] [y by rows] [z by columns]      after another one within each column
//
// With a single column a rank has whole planes (slabs), and y and z are transformed at once: one exchange is left. Otherwise
// it has bundles of lines (pencils), of which there are more than planes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tca::fft {

using Extents = std::array<std::int64_t, 3>;

std::string describe(const Extents& extents);  // e.g. "64x64x128"

struct Box {
  Extents first{}, size{};

  std::int64_t elements() const { return size[0] * size[1] * size[2]; }
  // One of so many parts, which differ by one layer at most.
  Box part(std::size_t dim, int part, int parts) const;
};

Box common(const Box& a, const Box& b);

// What of the transform a rank does between two exchanges.
struct Stage {
  enum class Cut { none, rows, columns };
  std::array<Cut, 3> cut;         // how each dimension is divided
  std::vector<std::size_t> over;  // the dimensions transformed, of which a rank has all

  // The dimension by which the work can be divided into batches, if there is one.
  std::optional<std::size_t> batch_dim() const;
};

// An exchange between two stages, of one batch of the first at a time.
struct Hop {
  std::size_t from, to;
  std::optional<std::size_t> dim;
  int batches = 1;
};

// What one rank sends another in an exchange. Boxes are in the coordinates of the whole array.
struct Piece {
  int source, target;
  Box box;
};

class Decomposition {
 public:
  // Of an array of complex numbers. Throws Error{invalid_argument} for a grid in which a rank would have nothing.
  Decomposition(const Extents& extents, int rows, int columns);

  const Extents& extents() const { return extents_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int ranks() const { return rows_ * columns_; }
  std::span<const Stage> stages() const { return stages_; }
  Box box(std::size_t stage, int rank) const;

  // The largest number of batches of which every rank has all.
  int most_batches() const;

  // The ranks among which `rank` exchanges, itself included, in their order.
  std::vector<int> group(const Hop& hop, int rank) const;
  std::vector<Piece> sent(const Hop& hop, int rank, int batch) const;
  std::vector<Piece> received(const Hop& hop, int rank, int batch) const;

 private:
  Box source(const Hop& hop, int rank, int batch) const;

  Extents extents_;
  int rows_, columns_;
  std::vector<Stage> stages_;
};

// Returns rows and columns: those of `wanted`, or when it is empty slabs if there are planes enough, and else the grid
// nearest to a square. Throws Error{invalid_argument} where no rank count of that kind fits the array.
std::array<int, 2> choose_grid(const Extents& extents, int ranks, std::span<const int> wanted);

}  // namespace tca::fft
