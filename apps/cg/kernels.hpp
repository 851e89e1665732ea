// The loops of conjugate gradients, each over one rank's part. Sums are of several partial ones, which a
// processor adds at the same time.
#pragma once

#include <array>
#include <cstddef>

#include "cg/matrix.hpp"

namespace tca::cg {

// y = A x.
void multiply(const Matrix& a, const double* x, double* y);

double dot(const double* a, const double* b, std::size_t n);

// The squared length of a - b.
double squared_distance(const double* a, const double* b, std::size_t n);

// p.q, r.q, q.q and r.r.
std::array<double, 4> four_dots(const double* p, const double* q, const double* r, std::size_t n);

// z += alpha p and r -= alpha q; returns r.r.
double advance(double alpha, const double* p, const double* q, double* z, double* r, std::size_t n);

// p = r + beta p.
void turn(double beta, const double* r, double* p, std::size_t n);

// The last two in one loop, without r.r.
void advance_and_turn(double alpha, double beta, const double* q, double* p, double* z, double* r,
                      std::size_t n);

}  // namespace tca::cg
