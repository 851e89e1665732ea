#include "random_plan.hpp"

namespace tca::test {

namespace {

using Sides = std::vector<std::int64_t>;

std::int64_t between(std::int64_t low, std::int64_t high) { return *rc::gen::inRange(low, high + 1); }

// A box of an array, in the array's own coordinates.
struct Box {
  Sides start, shape;
};

// Cuts the box along random dimensions until there are `count` pieces, or no side is left to cut.
std::vector<Box> carve(const Box& whole, std::size_t count) {
  std::vector<Box> pieces{whole};
  for (int tries = 0; pieces.size() < count && tries < 20; ++tries) {
    const auto which = static_cast<std::size_t>(between(0, std::ssize(pieces) - 1));
    const auto d = static_cast<std::size_t>(between(0, std::ssize(whole.shape) - 1));
    if (pieces[which].shape[d] < 2) continue;
    Box upper = pieces[which];
    const std::int64_t cut = between(1, upper.shape[d] - 1);
    upper.start[d] += cut;
    upper.shape[d] -= cut;
    pieces[which].shape[d] = cut;
    pieces.push_back(upper);
  }
  return pieces;
}

// Returns a random part of the box, so that untouched elements lie between the pieces.
Box shrink(Box box) {
  for (std::size_t d = 0; d < box.shape.size(); ++d) {
    const std::int64_t size = between(1, box.shape[d]);
    box.start[d] += between(0, box.shape[d] - size);
    box.shape[d] = size;
  }
  return box;
}

std::int64_t volume(const Sides& sides) {
  std::int64_t product = 1;
  for (const std::int64_t side : sides) product *= side;
  return product;
}

// Returns cells of the same shape in an array of other extents, or in one row.
Cells other_side(const Sides& shape) {
  if (between(0, 3) == 0) return block_cells(volume(shape));
  Sides extents, start;
  for (const std::int64_t side : shape) {
    start.push_back(between(0, 2));
    extents.push_back(start.back() + side + between(0, 2));
  }
  return subarray_cells(extents, start, shape);
}

void add_boxes(Plan& plan, int to, std::size_t count) {
  Box whole;
  for (auto dims = between(1, 4); dims > 0; --dims) whole.shape.push_back(between(1, dims > 2 ? 6 : 12));
  whole.start.assign(whole.shape.size(), 0);
  const std::int64_t offset = between(0, 3);
  for (const Box& piece : carve(whole, count)) {
    const Box box = shrink(piece);
    plan.puts.push_back({static_cast<int>(between(0, plan.ranks - 1)), to, other_side(box.shape),
                         subarray_cells(whole.shape, box.start, box.shape), between(0, 5), offset});
  }
}

// Adds columns of one array, which interleave element by element.
void add_columns(Plan& plan, int to, std::size_t count) {
  const std::int64_t width = between(1, 3), pitch = width * static_cast<std::int64_t>(count) + between(0, 2);
  const std::int64_t rows = between(1, 20), offset = between(0, 3);
  for (std::size_t i = 0; i < count; ++i) {
    const Cells column = width == 1 ? stride_cells(rows, pitch) : block_stride_cells(rows, width, pitch);
    const Cells sources[] = {column, block_cells(rows * width),
                             block_stride_cells(rows, width, width + between(0, 3))};
    plan.puts.push_back({static_cast<int>(between(0, plan.ranks - 1)), to, sources[between(0, 2)], column,
                         between(0, 5), offset + width * static_cast<std::int64_t>(i)});
  }
}

}  // namespace

rc::Gen<Plan> random_plan(int ranks, std::vector<std::string> channels, int steps) {
  return rc::gen::exec([=] {
    Plan plan;
    plan.ranks = static_cast<int>(between(1, ranks));
    plan.element_bytes = *rc::gen::elementOf(plan_element_sizes());
    plan.one_window = *rc::gen::arbitrary<bool>();
    plan.guarded = *rc::gen::arbitrary<bool>();
    plan.channel = *rc::gen::elementOf(channels);
    plan.steps = static_cast<int>(between(1, steps));
    for (int to = 0; to < plan.ranks; ++to) {
      const auto count = static_cast<std::size_t>(between(0, 4));
      if (count == 0) continue;
      if (*rc::gen::arbitrary<bool>()) {
        add_boxes(plan, to, count);
      } else {
        add_columns(plan, to, count);
      }
    }
    plan.fit(between(0, 3));
    return plan;
  });
}

}  // namespace tca::test
