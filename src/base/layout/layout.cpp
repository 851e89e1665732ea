// Makes the four layouts: checks their arguments, and reduces each to nested loops around contiguous runs.
#include "tca/layout.hpp"

#include <algorithm>

#include "base/fail.hpp"
#include "base/layout/shape.hpp"

namespace tca {

namespace {

using base::fail;

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_mul_overflow(a, b, &result)) {
    fail(Errc::invalid_argument, "layout: {} x {} elements overflow 63 bits", a, b);
  }
  return result;
}

std::int64_t sum(std::int64_t a, std::int64_t b) {
  std::int64_t result;
  if (__builtin_add_overflow(a, b, &result)) {
    fail(Errc::invalid_argument, "layout: {} + {} elements overflow 63 bits", a, b);
  }
  return result;
}

void require_at_least(std::int64_t least, const char* layout, const char* what, Count count) {
  if (count.value() < least) {
    fail(Errc::invalid_argument, "{}: {} must be at least {} and fit 63 bits, not {}", layout, what, least,
         count.value());
  }
}

}  // namespace

std::int64_t Layout::elements() const {
  std::int64_t count = run_;
  for (const Loop& loop : loops()) count *= loop.count;
  return count;
}

std::int64_t Layout::end() const {
  std::int64_t last = first_ + run_;
  for (const Loop& loop : loops()) last += (loop.count - 1) * loop.pitch;
  return last;
}

std::string Layout::describe() const { return base::in_words(run_, loops()); }

// Merges a loop that continues the one below into it, and drops a loop with a count of one. A box as wide as
// its array thus becomes fewer, longer runs. Since the extent is checked here, every later sum fits 63 bits.
void Layout::add_loop(std::int64_t count, std::int64_t pitch) {
  sum(end(), product(count - 1, pitch));
  if (count == 1) return;
  if (loop_count_ == 0 && pitch == run_) {
    run_ = product(run_, count);
    return;
  }
  if (loop_count_ > 0) {
    Loop& below = loops_[static_cast<std::size_t>(loop_count_ - 1)];
    if (pitch == below.count * below.pitch) {
      below.count *= count;
      return;
    }
  }
  if (loop_count_ == max_loops) {
    fail(Errc::invalid_argument,
         "subarray: it keeps more than {} loops around a run where dimensions that are whole, and so lie in "
         "one piece with the next, are taken together; move it in several puts",
         max_loops);
  }
  loops_[static_cast<std::size_t>(loop_count_++)] = {count, pitch};
}

Layout block(Count count) {
  require_at_least(0, "block", "the count", count);
  return Layout(0, count.value());
}

Layout block_stride(Count rows, Count block, Count pitch) {
  require_at_least(0, "block_stride", "the number of rows", rows);
  require_at_least(0, "block_stride", "the block", block);
  if (rows.value() == 0 || block.value() == 0) return Layout(0, 0);
  require_at_least(1, "block_stride", "the pitch", pitch);
  if (pitch.value() < block.value()) {
    fail(Errc::invalid_argument,
         "block_stride: rows of {} elements overlap when they start {} apart; pitch must be >= block",
         block.value(), pitch.value());
  }
  Layout layout(0, block.value());
  layout.add_loop(rows.value(), pitch.value());
  return layout;
}

Layout stride(Count count, Count pitch) {
  require_at_least(0, "stride", "the count", count);
  if (count.value() == 0) return Layout(0, 0);
  require_at_least(1, "stride", "the pitch", pitch);
  Layout layout(0, 1);
  layout.add_loop(count.value(), pitch.value());
  return layout;
}

Layout subarray(std::span<const Count> extents, std::span<const Count> start, std::span<const Count> shape) {
  const std::size_t dims = extents.size();
  if (dims < 1 || start.size() != dims || shape.size() != dims) {
    fail(Errc::invalid_argument,
         "subarray: extents, start and shape must all have the same number of dimensions, not {}, {} and {}",
         extents.size(), start.size(), shape.size());
  }
  for (std::size_t d = 0; d < dims; ++d) {
    require_at_least(0, "subarray", "every extent", extents[d]);
    require_at_least(0, "subarray", "every side of the shape", shape[d]);
    if (start[d].value() < 0 || start[d].value() > extents[d].value() - shape[d].value()) {
      fail(Errc::invalid_argument, "subarray: {} elements from {} do not fit extent {} of dimension {}",
           shape[d].value(), start[d].value(), extents[d].value(), d);
    }
  }
  if (std::ranges::any_of(shape, [](Count side) { return side.value() == 0; })) return Layout(0, 0);
  Layout layout(0, shape[dims - 1].value());
  std::int64_t first = start[dims - 1].value();
  std::int64_t pitch = extents[dims - 1].value();
  for (std::size_t d = dims - 1; d-- > 0;) {
    layout.add_loop(shape[d].value(), pitch);
    first = sum(first, product(start[d].value(), pitch));
    pitch = product(pitch, extents[d].value());
  }
  layout.first_ = first;
  return layout;
}

Layout nested(Count run, std::span<const Layout::Loop> loops) {
  require_at_least(0, "nested", "the run", run);
  if (loops.size() > Layout::max_loops)
    fail(Errc::invalid_argument, "nested: {} loops; a layout has up to {}", loops.size(), Layout::max_loops);
  for (const Layout::Loop& loop : loops) require_at_least(0, "nested", "every count", loop.count);
  const bool none = std::ranges::any_of(loops, [](const Layout::Loop& loop) { return loop.count == 0; });
  if (run.value() == 0 || none) return Layout(0, 0);
  Layout layout(0, run.value());
  for (const auto& [count, pitch] : loops) {
    if (count > 1 && pitch < layout.end()) {
      fail(
          Errc::invalid_argument,
          "nested: {} repetitions of {} elements overlap when they start {} apart; the pitch must be >= what "
          "is inside",
          count, layout.end(), pitch);
    }
    layout.add_loop(count, pitch);
  }
  return layout;
}

}  // namespace tca
