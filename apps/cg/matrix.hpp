// The benchmark's matrix, or a block of it, to the bit as the reference generates it.
//
// The matrix is the sum of n outer products v v^T of sparse random vectors, whose weights fall from 1 to 0.1,
// and of 0.1 minus the shift on the diagonal. The reference lists the elements of all products, one by one,
// and sorts them by row. Here only the vectors are kept, and for each row the list of those that are not zero
// there, from which the row is added up in the reference's order. So the memory needed beside the matrix
// grows with its rows, not with its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cg/problem.hpp"
#include "tca/grid.hpp"

namespace tca::cg {

// Rows in the order of the matrix; the elements of a row in the order in which they are generated, as the
// reference leaves them, because the sums of a product depend on it.
struct Matrix {
  std::vector<std::int64_t> row_begin;  // the first element of each row, and the end of the last
  std::vector<std::int32_t> column;     // counted from the block's first one
  std::vector<double> value;

  std::int64_t rows() const { return static_cast<std::int64_t>(row_begin.size()) - 1; }
  std::int64_t nonzeros() const { return row_begin.back(); }
};

// Called now and then with how far the work called `what` has come.
using Progress = std::function<void(const char* what, std::int64_t done, std::int64_t total)>;

// Returns the block of the matrix with these rows and columns.
Matrix make_matrix(const Problem& problem, const Range& rows, const Range& columns,
                   const Progress& progress = {});

// Returns the bytes that make_matrix() needs at most for a block, its result included.
double bytes_to_make(const Problem& problem, const Range& rows, const Range& columns);

}  // namespace tca::cg
