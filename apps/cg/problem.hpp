// The problem of CG, the conjugate gradients of the NAS Parallel Benchmarks: the smallest eigenvalue of a
// large sparse matrix with random columns, by inverse iteration, whose every step solves a system of
// equations. (Bailey et al., "The NAS Parallel Benchmarks", NASA; version 3.4.)
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace tca::cg {

// Of every class.
inline constexpr double condition = 0.1;     // of the matrix, before it is shifted
inline constexpr int inner_iterations = 25;  // of conjugate gradients, in a step
inline constexpr double tolerance = 1e-10;   // of zeta, relative to the published one

struct Problem {
  std::string_view name;  // the class: "S", ...
  std::int64_t n;         // rows
  int nonzeros;           // of each of the random vectors that the matrix is made of
  int steps;              // of the inverse iteration
  double shift;
  double zeta;  // the published result

  // Returns the operations that the benchmark counts for all of its steps.
  double flops() const;
};

// Returns S, W, A, B, C and D.
std::span<const Problem> problems();

// Ignores case. Throws Error{invalid_argument}, with a list of the classes, for an unknown name.
const Problem& problem_named(std::string_view name);

}  // namespace tca::cg
