// Compares layouts, and what is computed from them, with sets of single elements.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "base/layout/region.hpp"
#include "base/layout/shape.hpp"
#include "random_plan.hpp"

namespace tca::test {
namespace {

using base::Region;
using base::Shape;

// One side of a random put, as a region and as the set of its bytes.
struct Side {
  Region region;
  std::set<std::int64_t> bytes;
};

Side random_side() {
  const Plan plan =
      *rc::gen::suchThat(random_plan(1, {""}, 1), [](const Plan& p) { return !p.puts.empty(); });
  const PlannedPut& put = *rc::gen::elementOf(plan.puts);
  const Shape shape = base::pair_up(put.target.layout, put.source.layout, plan.element_bytes);
  const bool written = *rc::gen::arbitrary<bool>();
  const Cells& cells = written ? put.target : put.source;
  const auto size = static_cast<std::int64_t>(plan.element_bytes);
  const std::int64_t shift = *rc::gen::inRange<std::int64_t>(0, 200);
  const std::int64_t offset = shift + cells.layout.first() * size;
  Side side{written ? Region::written(offset, shape) : Region::read(offset, shape), {}};
  for (const std::int64_t cell : cells.at) {
    for (std::int64_t i = 0; i < size; ++i) side.bytes.insert(shift + cell * size + i);
  }
  return side;
}

RC_GTEST_PROP(Regions, EndBehindTheirLastByte, ()) {
  const Side side = random_side();
  RC_ASSERT(side.region.offset == *side.bytes.begin());
  RC_ASSERT(side.region.end() == *side.bytes.rbegin() + 1);
}

RC_GTEST_PROP(Regions, IntersectWhereTheirBytesDo, ()) {
  const Side a = random_side(), b = random_side();
  std::set<std::int64_t> both;
  for (const std::int64_t byte : a.bytes) {
    if (b.bytes.contains(byte)) both.insert(byte);
  }
  const auto found = base::intersect(a.region, b.region);
  RC_CLASSIFY(found.has_value(), "they meet");
  RC_ASSERT(found.has_value() == !both.empty());
  if (!found) return;
  RC_ASSERT(found->begin < found->end);
  for (std::int64_t byte = found->begin; byte < found->end; ++byte) RC_ASSERT(both.contains(byte));
}

RC_GTEST_PROP(Regions, MeetWhereTheirBytesDo, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(2, 8);
  const auto written = *rc::gen::inRange<std::size_t>(0, count + 1);
  std::vector<Region> regions;
  for (std::size_t i = 0; i < count; ++i) regions.push_back(random_side().region);
  // Repeated regions have the same bytes and are compared run by run.
  for (auto more = *rc::gen::inRange(0, 40); more > 0; --more)
    regions.push_back(*rc::gen::elementOf(regions));
  std::set<std::size_t> named;
  for (const base::Meeting& meeting : base::meetings(regions, written)) {
    RC_ASSERT(meeting.first < meeting.second && meeting.first < written);
    RC_ASSERT(base::intersect(regions[meeting.first], regions[meeting.second]).has_value());
    named.insert({meeting.first, meeting.second});
  }
  for (std::size_t a = 0; a < written; ++a) {
    for (std::size_t b = a + 1; b < regions.size(); ++b)
      if (base::intersect(regions[a], regions[b])) RC_ASSERT(named.contains(a) || named.contains(b));
  }
}

RC_GTEST_PROP(Layouts, HoldTheElementsThatAreListed, ()) {
  const Plan plan = *random_plan(1, {""}, 1);
  for (const PlannedPut& put : plan.puts) {
    for (const Cells& cells : {put.source, put.target}) {
      RC_ASSERT(cells.layout.elements() == std::ssize(cells.at));
      RC_ASSERT(cells.layout.first() == cells.at.front());
      RC_ASSERT(cells.layout.end() == cells.end());
    }
  }
}

// Copying, and gathering then scattering, moves the same bytes as a loop over the elements.
RC_GTEST_PROP(Shapes, MoveWhatALoopMoves, ()) {
  const Plan plan = *random_plan(1, {""}, 1);
  const std::size_t size = plan.element_bytes;
  for (const PlannedPut& put : plan.puts) {
    const Shape shape = base::pair_up(put.target.layout, put.source.layout, size);
    RC_ASSERT(shape.bytes() == size * put.source.at.size());
    std::vector<std::byte> from(static_cast<std::size_t>(put.source.end()) * size);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(1 + i % 251);
    std::vector<std::byte> looped(static_cast<std::size_t>(put.target.end()) * size), copied = looped,
                                                                                      staged = looped;
    for (std::size_t k = 0; k < put.source.at.size(); ++k) {
      std::copy_n(&from[static_cast<std::size_t>(put.source.at[k]) * size], size,
                  &looped[static_cast<std::size_t>(put.target.at[k]) * size]);
    }
    const std::byte* first_source = from.data() + static_cast<std::size_t>(put.source.layout.first()) * size;
    const std::size_t first_target = static_cast<std::size_t>(put.target.layout.first()) * size;
    base::copy(copied.data() + first_target, first_source, shape);
    std::vector<std::byte> dense(shape.bytes());
    base::gather(dense.data(), first_source, shape);
    base::scatter(staged.data() + first_target, dense.data(), shape);
    RC_ASSERT(copied == looped);
    RC_ASSERT(staged == looped);
  }
}

// A shape that is cut short moves its first elements, and no others.
RC_GTEST_PROP(Shapes, CutShortMoveTheFirstElements, ()) {
  const Plan plan = *random_plan(1, {""}, 1);
  const std::size_t size = plan.element_bytes;
  for (const PlannedPut& put : plan.puts) {
    const Shape shape = base::pair_up(put.target.layout, put.source.layout, size);
    const std::size_t unit = std::max<std::size_t>(1, base::unit_bytes(shape) / size);
    RC_ASSERT(put.source.at.size() % unit == 0);
    const std::size_t count = unit * *rc::gen::inRange<std::size_t>(0, put.source.at.size() / unit + 1);
    RC_ASSERT(base::cut(shape, count * size).bytes() == count * size);
    std::vector<std::byte> from(static_cast<std::size_t>(put.source.end()) * size);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(1 + i % 251);
    std::vector<std::byte> looped(static_cast<std::size_t>(put.target.end()) * size), copied = looped,
                                                                                      staged = looped;
    for (std::size_t k = 0; k < count; ++k) {
      std::copy_n(&from[static_cast<std::size_t>(put.source.at[k]) * size], size,
                  &looped[static_cast<std::size_t>(put.target.at[k]) * size]);
    }
    const std::byte* first_source = from.data() + static_cast<std::size_t>(put.source.layout.first()) * size;
    const std::size_t first_target = static_cast<std::size_t>(put.target.layout.first()) * size;
    base::copy_cut(copied.data() + first_target, first_source, shape, count * size);
    std::vector<std::byte> dense(count * size);
    const std::byte* const end = base::gather_cut(dense.data(), first_source, shape, count * size);
    RC_ASSERT(end == dense.data() + dense.size());
    base::scatter_cut(staged.data() + first_target, dense.data(), shape, count * size);
    RC_ASSERT(copied == looped);
    RC_ASSERT(staged == looped);
  }
}

}  // namespace
}  // namespace tca::test
