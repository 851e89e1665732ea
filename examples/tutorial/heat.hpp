// What the steps of the tutorial share: the plate, its stencil, the check against one rank, and the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// In step 5 kernels call these too.
#ifdef __CUDACC__
#define HEAT_ANYWHERE __host__ __device__
#else
#define HEAT_ANYWHERE
#endif

namespace heat {

// What the command line says: a plate of n x n cells, how many steps, and how many ranks lie above one
// another (0: whoever divides the plate chooses).
struct Arguments {
  Arguments(int argc, char** argv)
      : n(argc > 1 ? std::atol(argv[1]) : 240),
        steps((argc > 2 ? std::atoi(argv[2]) : 200) / 2 * 2),  // even: two arrays take turns
        rows_of_ranks(argc > 3 ? std::atoi(argv[3]) : 0) {
    if (n < 1 || steps < 2 || rows_of_ranks < 0) {
      std::fprintf(stderr, "usage: %s [cells along a side] [steps, 2 or more] [rows of ranks]\n", argv[0]);
      std::exit(2);
    }
  }

  long n;
  int steps, rows_of_ranks;
};

// A rank's part of the plate: rows x columns cells, of which the first one is cell (row, column) of the
// plate. Around them lies a ring of cells that are a neighbour's or the plate's edge; counting begins at 0 in
// the ring.
struct Part {
  // The part at place (i, j) of shape[0] x shape[1] equal ones.
  static Part of(long n, const int shape[2], const int place[2]) {
    if (n % shape[0] != 0 || n % shape[1] != 0) {
      std::fprintf(stderr, "%ld x %ld cells do not divide among %d x %d ranks\n", n, n, shape[0], shape[1]);
      std::exit(2);
    }
    return {n / shape[0], n / shape[1], n / shape[0] * place[0], n / shape[1] * place[1]};
  }

  HEAT_ANYWHERE long pitch() const { return columns + 2; }
  long cells() const { return (rows + 2) * pitch(); }
  HEAT_ANYWHERE long at(long i, long j) const { return i * pitch() + j; }

  long rows, columns, row, column;
};

// Returns the first state of a part. The plate is cold but for its upper edge.
inline std::vector<double> first_state(const Part& part) {
  std::vector<double> u(static_cast<std::size_t>(part.cells()));
  if (part.row == 0) std::fill_n(u.begin(), part.pitch(), 100.0);
  return u;
}

// The new temperature of a cell: the mean of its neighbours.
HEAT_ANYWHERE inline double mean(const double* cell, long pitch) {
  return 0.25 * (cell[-pitch] + cell[pitch] + cell[-1] + cell[1]);
}

// A step of rows [i0, i1) and columns [j0, j1) of a part.
inline void relax(const Part& part, const double* u, double* next, long i0, long i1, long j0, long j1) {
  for (long i = i0; i < i1; ++i) {
    for (long j = j0; j < j1; ++j) next[part.at(i, j)] = mean(u + part.at(i, j), part.pitch());
  }
}

// All cells of a part.
inline void relax(const Part& part, const double* u, double* next) {
  relax(part, u, next, 1, part.rows + 1, 1, part.columns + 1);
}

// The same in two halves: the cells that need no ghosts, and the others.
inline void relax_inside(const Part& part, const double* u, double* next) {
  relax(part, u, next, 2, part.rows, 2, part.columns);
}
inline void relax_rim(const Part& part, const double* u, double* next) {
  for (const long i : {1L, part.rows}) relax(part, u, next, i, i + 1, 1, part.columns + 1);
  for (const long j : {1L, part.columns}) relax(part, u, next, 2, part.rows, j, j + 1);
}

// Returns how many cells of a part differ, in any bit, from those that one rank computes by itself.
inline int wrong_cells(const Arguments& arguments, const Part& part, const double* u) {
  const Part whole{arguments.n, arguments.n, 0, 0};
  std::vector<double> expected = first_state(whole), next = expected;
  for (int s = 0; s < arguments.steps; ++s) {
    relax(whole, expected.data(), next.data());
    expected.swap(next);
  }
  int wrong = 0;
  for (long i = 1; i <= part.rows; ++i) {
    for (long j = 1; j <= part.columns; ++j)
      wrong += u[part.at(i, j)] != expected[whole.at(part.row + i, part.column + j)];
  }
  return wrong;
}

// Times steps by batches of a hundred.
class Clock {
 public:
  // Says that step s is done, counted from 0. A hundredth step waits for `finish` before it reads the time.
  template <class Finish>
  void done(int s, const Finish& finish) {
    if ((s + 1) % batch != 0) return;
    finish();
    const auto now = std::chrono::steady_clock::now();
    us_.push_back(std::chrono::duration<double, std::micro>(now - since_).count() / batch);
    since_ = now;
  }
  void done(int s) {
    done(s, [] {});
  }

  std::string report() {
    if (us_.empty()) return "too few steps to time";
    std::sort(us_.begin(), us_.end());
    char text[80];
    std::snprintf(text, sizeof text, "%.2f us a step (least %.2f)", us_[us_.size() / 2], us_.front());
    return text;
  }

 private:
  static constexpr int batch = 100;
  std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
  std::vector<double> us_;
};

// What rank 0 prints. Returns the program's exit code.
inline int report(const Arguments& arguments, int ranks, int wrong, Clock& clock) {
  std::printf("%ld x %ld cells, %d rank%s: %s; ", arguments.n, arguments.n, ranks, ranks == 1 ? "" : "s",
              clock.report().c_str());
  if (wrong == 0)
    std::printf("to the bit as by one rank\n");
  else
    std::printf("WRONG in %d cells\n", wrong);
  return wrong == 0 ? 0 : 1;
}

}  // namespace heat
