// Loops that programs write, each over windows (NAME_window) and over pointers (NAME_pointer). loops_test.py
// compares what the compiler makes of the two.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tca/halo.hpp"

namespace {

// An array behind a pointer, as a window is used.
template <class T>
struct Pointer {
  T *first, *last;
  T* begin() const { return first; }
  T* end() const { return last; }
  std::size_t size() const { return static_cast<std::size_t>(last - first); }
  T& operator[](std::ptrdiff_t i) const { return first[i]; }
};

// Where a cell lies in an array of `pitch` cells to a row, as Halo::index says it for one ghost all around.
struct Rows {
  std::int64_t pitch;
  std::int64_t index(std::initializer_list<std::int64_t> cell) const {
    return (cell.begin()[0] + 1) * pitch + cell.begin()[1] + 1;
  }
};

template <class Array>
void smooth(const Array& from, const Array& to, long rows, long pitch) {
  for (long y = 1; y <= rows; ++y)
    for (long x = 1; x < pitch - 1; ++x) {
      const long i = y * pitch + x;
      to[i] = 0.5 * from[i] + 0.125 * (from[i - 1] + from[i + 1] + from[i - pitch] + from[i + pitch]);
    }
}

template <class Array, class Places>
void by_index(const Array& from, const Array& to, const Places& at, long rows, long cols) {
  for (long y = 0; y < rows; ++y)
    for (long x = 0; x < cols; ++x)
      to[at.index({y, x})] =
          from[at.index({y - 1, x})] + from[at.index({y + 1, x})] + from[at.index({y, x - 1})];
}

template <class Array>
void scale(const Array& values, double factor) {
  for (double& value : values) value *= factor;
}

template <class Array, class T>
void fill(const Array& values, T value) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value;
}

template <class Array>
struct Solver {
  Array p, q;
  std::vector<double> r;
  void update(double alpha) {
    const auto add = [&](long i) { r[i] -= alpha * q[i]; };
    for (long i = 0; i < static_cast<long>(p.size()); ++i) {
      p[i] = r[i] + alpha * p[i];
      add(i);
    }
  }
};

}  // namespace

extern "C" {

using Window = tca::Window<double>;
using Doubles = Pointer<double>;

void smooth_window(Window& u, Window& v, long rows, long pitch) { smooth(u, v, rows, pitch); }
void smooth_pointer(Doubles& u, Doubles& v, long rows, long pitch) { smooth(u, v, rows, pitch); }

void by_index_window(Window& u, Window& v, tca::Halo& halo, long rows, long cols) {
  by_index(u, v, halo, rows, cols);
}
void by_index_pointer(Doubles& u, Doubles& v, Rows& at, long rows, long cols) {
  by_index(u, v, at, rows, cols);
}

void scale_window(Window& u, double factor) { scale(u, factor); }
void scale_pointer(Doubles& u, double factor) { scale(u, factor); }

void fill_window(tca::Window<std::size_t>& u, std::size_t value) { fill(u, value); }
void fill_pointer(Pointer<std::size_t>& u, std::size_t value) { fill(u, value); }

void update_window(Solver<Window>& solver, double alpha) { solver.update(alpha); }
void update_pointer(Solver<Doubles>& solver, double alpha) { solver.update(alpha); }

void ranks_window(tca::World& world, const Window& counts) {
  for (int rank = 0; rank < world.size(); ++rank) counts[rank] = world.rank();
}
void ranks_pointer(const int& size, const int& me, const Doubles& counts) {
  for (int rank = 0; rank < size; ++rank) counts[rank] = me;
}
}
