// The applications whose ranks do the same in every iteration: conjugate gradients of the NAS Parallel
// Benchmarks, conjugate gradients of lattice QCD, and three-dimensional Fourier transforms. Their messages are
// those of apps/cg, apps/qcd and apps/fft, in grids of ranks as there.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/loop.hpp"

namespace tca::tool {

// A sparse matrix whose rows have so many elements on average, in random columns.
struct SparseMatrix {
  std::int64_t rows = 0, elements_of_a_row = 0;
};

// An iteration in the merged order, with one sum. The grid has R x C ranks, R a power of two and C one or two
// times R.
void add_cg(Loop& loop, const SparseMatrix& matrix, const std::array<std::uint32_t, 2>& grid);

// An iteration of the normal equations of Wilson's operator, preconditioned by even and odd sites.
void add_qcd(Loop& loop, const std::array<std::int64_t, 4>& lattice, const std::array<std::uint32_t, 4>& grid,
             std::uint64_t element);

// A transform forward of complex numbers in double precision, in pencils on R x C ranks; in slabs where C is
// 1.
void add_fft(Loop& loop, const std::array<std::int64_t, 3>& extents,
             const std::array<std::uint32_t, 2>& grid);

}  // namespace tca::tool
