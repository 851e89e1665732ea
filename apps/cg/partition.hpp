// Which block of the matrix each rank has, and which part of the vectors.
//
// Nx1 ranks have whole rows, any number of ranks, and a part of each vector of their own. Before a product
// they gather the vector, all of it.
//
// RxC ranks have blocks, as the benchmark divides the matrix: R and C are powers of two, and C is R or 2 R. A
// rank has the part of each vector that belongs to its block's columns, as do the R ranks above and below it.
// A product leaves sums of a part of each row, which the C ranks of a row of the grid add up; what they have
// then belongs to their rows, and an exchange across the diagonal brings what belongs to their columns.
#pragma once

#include <vector>

#include "cg/problem.hpp"
#include "tca/grid.hpp"

namespace tca::cg {

// A step in which two ranks of a row of the grid exchange sums; elements count from the block's first row.
struct Reduction {
  int partner;
  Range sent;      // to the partner, which adds them to its own
  Range received;  // from the partner, which this rank adds to its own
};

struct Share {
  Range rows, columns;   // of the block
  Range own;             // the part of each vector: as the rows where they are whole, else as the columns
  std::int64_t largest;  // the size of the largest part that a rank has
  bool whole_rows;

  // Where rows are not whole.
  std::vector<int> row_of_grid;       // the ranks that have blocks of these rows, in order
  std::vector<Reduction> reductions;  // in order
  Range summed;                       // what this rank has after them, and sends across the diagonal
  int transposed;                     // the rank with which it exchanges that for its `own`
};

// Throws Error{invalid_argument} unless the grid is of one of the two kinds and there is a row for every
// rank.
void check_grid(const Problem& problem, const Grid& grid);

Share share_of(const Problem& problem, const Grid& grid, int rank);

}  // namespace tca::cg
