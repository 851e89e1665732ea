#include <algorithm>
#include <vector>

#include "c/layouts.hpp"

namespace tca::c {

static_assert(TCA_MAX_LOOPS == Layout::max_loops);

Layout layout_of(const tca_layout& layout) {
  if (layout.loops < 0 || layout.loops > TCA_MAX_LOOPS)
    throw Misuse(fmt::format("a layout of {} loops; there are up to {}", layout.loops, TCA_MAX_LOOPS));
  std::array<Layout::Loop, Layout::max_loops> loops{};
  const auto count = static_cast<std::size_t>(layout.loops);
  std::transform(layout.loop, layout.loop + count, loops.begin(), [](const auto& loop) {
    return Layout::Loop{loop.count, loop.pitch};
  });
  return nested(layout.run, std::span(loops).first(count));
}

namespace {

tca_layout in_c(const Layout& layout) {
  tca_layout all{};
  all.first = layout.first();
  all.run = layout.run();
  for (const Layout::Loop& loop : layout.loops()) {
    all.loop[all.loops].count = loop.count;
    all.loop[all.loops].pitch = loop.pitch;
    ++all.loops;
  }
  return all;
}

}  // namespace
}  // namespace tca::c

using namespace tca::c;

tca_status tca_layout_block(int64_t count, tca_layout* layout) {
  return guarded(__func__, [&] { present(layout, "the layout") = in_c(tca::block(count)); });
}

tca_status tca_layout_block_stride(int64_t rows, int64_t block, int64_t pitch, tca_layout* layout) {
  return guarded(__func__,
                 [&] { present(layout, "the layout") = in_c(tca::block_stride(rows, block, pitch)); });
}

tca_status tca_layout_stride(int64_t count, int64_t pitch, tca_layout* layout) {
  return guarded(__func__, [&] { present(layout, "the layout") = in_c(tca::stride(count, pitch)); });
}

tca_status tca_layout_subarray(int dims, const int64_t* extents, const int64_t* start, const int64_t* shape,
                               tca_layout* layout) {
  return guarded(__func__, [&] {
    tca_layout& made = present(layout, "the layout");
    const std::size_t count = dims_of(dims);
    const auto counts = [count](const int64_t* numbers, const char* what) {
      const int64_t* const first = array(numbers, count, what);
      return std::vector<tca::Count>(first, first + count);
    };
    made = in_c(tca::subarray(counts(extents, "the extents"), counts(start, "the start"),
                              counts(shape, "the shape")));
  });
}
