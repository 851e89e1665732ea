#include "tune/grid.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>
#include <string>

namespace tca::tool {
namespace {

using bench::PutShape;
using Shapes = std::vector<PutShape>;

std::size_t next_multiple(std::size_t above, std::size_t of) { return (above / of + 1) * of; }

// Returns one pitch of each spacing that runs of this length can have, and two where the class is large. Rows
// of arrays with ghosts seldom begin at the same place of a cache line, so these pitches do not either where
// their class leaves it open.
std::vector<std::size_t> pitches(std::size_t run) {
  constexpr std::size_t word = 8, line = 64, aliasing = 512, page = 4096;
  std::set<std::size_t> all;
  if (run < line) {
    if (run < line / 4) all.insert({2 * run, 3 * run});
    if (run < line / 2) all.insert(line / 2);
    if (run < line - 16) all.insert(line - 16);
    all.insert(run + line);
    if (run < 8) return {all.begin(), all.end()};  // further apart they cost as much as runs of 8 bytes
    all.insert({640, 1040, aliasing, 2048});
  } else {
    all.insert(run + line / 4);
    for (const std::size_t pitch : {run + line + word, 2 * run + line + word, next_multiple(run, aliasing)})
      if (pitch < page) all.insert(pitch);
  }
  all.insert({next_multiple(run, page),
              next_multiple(run, page) + run / line * line + line + std::min(run, line / 2)});
  return {all.begin(), all.end()};
}

class Grid {
 public:
  explicit Grid(const Sizes& sizes) : sizes_(sizes) {}

  void add(const PutShape& shape) {
    if (shape.bytes() <= sizes_.put && bench::PutField::bytes_for(shape) <= sizes_.field)
      shapes.push_back(shape);
  }

  void add_blocks(std::size_t factor) {
    for (std::size_t bytes = 8; bytes <= sizes_.put; bytes *= factor) {
      add({bytes});
      if (bytes >= 16 && factor == 2) add({bytes + bytes / 2});
    }
  }

  // Adds sizes a factor of four apart, and then of two. They are the same for all lengths of runs that divide
  // them, since the table interpolates between neighbouring lengths and sizes.
  void add_runs(std::size_t run, std::size_t least, std::size_t most) {
    for (std::size_t bytes = least; bytes <= most; bytes *= bytes < sizes_.finer_from ? 4 : 2)
      for (const std::size_t pitch : pitches(run))
        if (bytes >= 2 * run && bytes % run == 0) add({run, bytes / run, pitch});
  }

  // Adds boxes with short rows.
  void add_boxes(std::size_t run, std::size_t least, std::size_t most) {
    constexpr std::size_t rows_of_array = 24;
    for (std::size_t bytes = least; bytes <= most; bytes *= 4) {
      const std::size_t rows = bytes / run < 32 ? 4 : 16;
      for (const std::size_t pitch : {48UL, 208UL, 512UL, 640UL, 1040UL, 4176UL, 4096UL})
        if (pitch > run && bytes >= 2 * rows * run)
          add({run, rows, pitch, bytes / run / rows, rows_of_array * pitch});
    }
  }

  Shapes shapes;

 private:
  Sizes sizes_;
};

// Draws random numbers. Those between two limits are equally likely in each octave.
class Chance {
 public:
  explicit Chance(std::uint64_t seed) : engine_(seed) {}

  std::size_t between(std::size_t least, std::size_t most) {
    std::uniform_real_distribution<double> octave(std::log2(least), std::log2(most));
    return static_cast<std::size_t>(std::lround(std::exp2(octave(engine_))));
  }
  std::size_t one_of(std::initializer_list<std::size_t> all) {
    return all.begin()[std::uniform_int_distribution<std::size_t>(0, all.size() - 1)(engine_)];
  }

 private:
  std::mt19937_64 engine_;
};

// Returns the extent of an array in elements: a power of two in half of the cases, and with ghosts in half of
// them.
std::size_t extent(Chance& chance, std::size_t least, std::size_t most) {
  std::size_t n = chance.between(least, most);
  if (chance.one_of({0, 1}) == 0) n = std::size_t{1} << std::lround(std::log2(n));
  return n + chance.one_of({0, 2});
}

PutShape any_block(Chance& chance, const Sizes& sizes) { return {chance.between(8, sizes.put / 2)}; }

// Returns a column of a matrix, or a face of a cube.
PutShape any_stride(Chance& chance, const Sizes&) {
  const std::size_t element = chance.one_of({4, 8, 8, 8, 16, 32});
  return {element, chance.between(4, 32768), element * extent(chance, 2, 1024)};
}

PutShape any_block_stride(Chance& chance, const Sizes&) {
  const std::size_t run = 8 * chance.between(8, 2048);
  const std::size_t pitch = std::max(8 * extent(chance, run / 8, 4 * run / 8), run + 8);
  return {run, chance.between(2, 4096), pitch};
}

// Returns a box within a three-dimensional array of doubles.
PutShape any_box(Chance& chance, const Sizes&) {
  const std::size_t nx = extent(chance, 8, 256), ny = extent(chance, 8, 256);
  const std::size_t width = chance.one_of({1, 2, nx / 2, nx - 2});
  return {8 * width, std::max<std::size_t>(2, ny / chance.one_of({1, 2})) - 1, 8 * nx, chance.between(2, 128),
          8 * nx * ny};
}

}  // namespace

std::vector<PutShape> tuning_grid(const Sizes& sizes) {
  constexpr std::size_t least = 96;
  const std::size_t most = sizes.put / 4 * 3;
  Grid grid(sizes);
  grid.add_blocks(2);
  // Runs of 48 bytes are calls of memcpy.
  for (const std::size_t run : {4UL, 8UL, 16UL, 32UL, 48UL}) {
    grid.add_runs(run, least, most / 4);
    if (run >= 8) grid.add_boxes(run, least, most / 4);
  }
  // Three times a power of two does not evenly fill the pieces into which MPI cuts messages.
  for (const std::size_t run : {64UL, 192UL, 768UL, 3072UL, 16384UL}) grid.add_runs(run, 4 * least, most);
  return grid.shapes;
}

std::vector<PutShape> own_grid(const Sizes& sizes) {
  Grid grid(sizes);
  grid.add_blocks(4);
  for (const std::size_t bytes : {384UL, 6144UL, 98304UL}) {
    for (const std::size_t run : {8UL, 64UL, 768UL}) grid.add_runs(run, bytes, bytes);
  }
  return grid.shapes;
}

std::vector<PutShape> verifying_grid(const Sizes& sizes, std::uint64_t seed, std::size_t points) {
  Chance chance(seed);
  const Shapes known = tuning_grid(sizes);
  const auto is_known = [&](const PutShape& shape) {
    return std::any_of(known.begin(), known.end(), [&](const PutShape& k) {
      return k.run == shape.run && k.runs == shape.runs && k.pitch == shape.pitch && shape.planes == 1;
    });
  };
  Grid grid(sizes);
  const auto kinds = {any_block, any_stride, any_block_stride, any_box};
  for (std::size_t turn = 0; grid.shapes.size() < points; ++turn) {
    const PutShape shape = kinds.begin()[turn % kinds.size()](chance, sizes);
    if (!is_known(shape)) grid.add(shape);
  }
  return grid.shapes;
}

base::Shape shape_of(const PutShape& shape) {
  const Layout layout = layout_of(shape);
  return base::pair_up(layout, layout, 1);
}

}  // namespace tca::tool
