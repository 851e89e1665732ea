#include "base/layout/region.hpp"

#include <algorithm>
#include <numeric>

namespace tca::base {

namespace {

template <class Pitch>
Region make_region(std::int64_t offset, const Shape& shape, Pitch pitch) {
  Region region;
  region.offset = offset;
  region.run = static_cast<std::int64_t>(shape.run);
  region.loop_count = shape.loop_count;
  for (std::size_t i = 0; i < shape.loop_count; ++i) {
    region.loops[i] = {static_cast<std::int64_t>(shape.loops[i].count), shape.loops[i].*pitch};
  }
  return region;
}

// The pitches of two regions, innermost (single bytes) first, if each divides the next; no digits
// otherwise.
struct Radix {
  std::array<std::int64_t, 1 + 2 * Layout::max_loops> pitch{1};
  std::size_t digits = 1;
};

Radix common_radix(const Region& a, const Region& b) {
  Radix radix;
  for (const Region* region : {&a, &b}) {
    for (std::size_t i = 0; i < region->loop_count; ++i) radix.pitch[radix.digits++] = region->loops[i].pitch;
  }
  const auto begin = radix.pitch.begin();
  std::sort(begin, begin + static_cast<std::ptrdiff_t>(radix.digits));
  const auto end = std::unique(begin, begin + static_cast<std::ptrdiff_t>(radix.digits));
  radix.digits = static_cast<std::size_t>(end - begin);
  for (std::size_t i = 1; i < radix.digits; ++i)
    if (radix.pitch[i] % radix.pitch[i - 1] != 0) return {.digits = 0};
  return radix;
}

// A region as a box in mixed-radix coordinates. Digit i counts steps of pitch[i], and no digit carries into
// the next.
struct Box {
  std::array<std::int64_t, 1 + 2 * Layout::max_loops> low, high;  // [low, high)
};

// Returns the region as a box whose coordinates count from `origin`; nothing if it is not a box in this
// radix.
std::optional<Box> as_box(const Region& region, const Radix& radix, std::int64_t origin) {
  Box box;
  std::int64_t rest = region.offset - origin;
  for (std::size_t i = radix.digits; i-- > 0;) {
    const std::int64_t unit = radix.pitch[i];
    const std::int64_t most = i + 1 < radix.digits ? radix.pitch[i + 1] / unit : INT64_MAX;
    std::int64_t count = i == 0 ? region.run : 1;
    for (std::size_t k = 0; k < region.loop_count; ++k)
      if (region.loops[k].pitch == unit) count *= region.loops[k].count;
    box.low[i] = rest / unit;
    rest %= unit;
    if (count > most - box.low[i]) return std::nullopt;  // the digit would carry
    box.high[i] = box.low[i] + count;
  }
  return box;
}

std::optional<ByteRange> intersect_boxes(const Box& a, const Box& b, const Radix& radix,
                                         std::int64_t origin) {
  std::int64_t begin = origin;
  for (std::size_t i = 0; i < radix.digits; ++i) {
    const std::int64_t low = std::max(a.low[i], b.low[i]);
    if (low >= std::min(a.high[i], b.high[i])) return std::nullopt;
    begin += low * radix.pitch[i];
  }
  return ByteRange{begin, begin + std::min(a.high[0], b.high[0]) - std::max(a.low[0], b.low[0])};
}

// Returns the first byte of each run, in ascending order.
std::vector<std::int64_t> sorted_runs(const Region& region) {
  std::vector<std::int64_t> begins{region.offset};
  for (std::size_t i = 0; i < region.loop_count; ++i) {
    const std::size_t below = begins.size();
    for (std::int64_t k = 1; k < region.loops[i].count; ++k) {
      for (std::size_t j = 0; j < below; ++j) begins.push_back(begins[j] + k * region.loops[i].pitch);
    }
  }
  std::sort(begins.begin(), begins.end());
  return begins;
}

// Handles the general case by merging the sorted runs of both regions. This needs memory for every run, but
// is reached only if the pitches do not divide one another or a digit carries.
std::optional<ByteRange> intersect_runs(const Region& a, const Region& b) {
  const std::vector<std::int64_t> left = sorted_runs(a), right = sorted_runs(b);
  for (std::size_t i = 0, j = 0; i < left.size() && j < right.size();) {
    const std::int64_t begin = std::max(left[i], right[j]);
    const std::int64_t end = std::min(left[i] + a.run, right[j] + b.run);
    if (begin < end) return ByteRange{begin, end};
    if (left[i] < right[j]) {
      ++i;
    } else {
      ++j;
    }
  }
  return std::nullopt;
}

}  // namespace

Region Region::written(std::int64_t offset, const Shape& shape) {
  return make_region(offset, shape, &Shape::Loop::to_pitch);
}

Region Region::read(std::int64_t offset, const Shape& shape) {
  return make_region(offset, shape, &Shape::Loop::from_pitch);
}

std::int64_t Region::end() const {
  std::int64_t last = offset + run;
  for (std::size_t i = 0; i < loop_count; ++i) last += (loops[i].count - 1) * loops[i].pitch;
  return last;
}

std::int64_t Region::runs() const {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < loop_count; ++i) count *= loops[i].count;
  return count;
}

std::string Region::describe(std::size_t element_bytes) const {
  const auto size = static_cast<std::int64_t>(element_bytes);
  std::int64_t row = run / size;
  std::vector<Layout::Loop> around;
  for (std::size_t i = 0; i < loop_count; ++i) {
    const Layout::Loop loop{loops[i].count, loops[i].pitch / size};
    // A dense side may have loops that only its partner needs.
    if (around.empty() && loop.pitch == row)
      row *= loop.count;
    else if (!around.empty() && loop.pitch == around.back().count * around.back().pitch)
      around.back().count *= loop.count;
    else
      around.push_back(loop);
  }
  return in_words(row, around);
}

std::optional<ByteRange> intersect(const Region& a, const Region& b) {
  const std::int64_t begin = std::max(a.offset, b.offset);
  const std::int64_t end = std::min(a.end(), b.end());
  if (begin >= end) return std::nullopt;
  if (a.loop_count == 0 && b.loop_count == 0) return ByteRange{begin, end};
  if (const Radix radix = common_radix(a, b); radix.digits > 0) {
    const std::int64_t origin = std::min(a.offset, b.offset);
    const std::optional<Box> left = as_box(a, radix, origin), right = as_box(b, radix, origin);
    if (left && right) return intersect_boxes(*left, *right, radix, origin);
  }
  return intersect_runs(a, b);
}

namespace {

class Search {
 public:
  Search(std::span<const Region> regions, std::size_t written)
      : regions_(regions), written_(written), known_(2 * regions.size()) {}

  // Searches among regions whose bounds overlap, sorted by where they begin.
  void among(std::span<const std::size_t> group) {
    if (group.size() < 2) return;
    std::int64_t runs = 0;
    for (const std::size_t i : group) runs += regions_[i].runs();
    if (runs <= most_runs && runs < pairs(group))
      run_by_run(group);
    else
      pair_by_pair(group);
  }

  std::vector<Meeting> take() { return std::move(found_); }

 private:
  // This many runs take about 50 MB.
  static constexpr std::int64_t most_runs = 1 << 21;

  struct Run {
    std::int64_t begin, end;
    std::size_t region;
  };

  bool is_written(std::size_t region) const { return region < written_; }

  // Whether `region` is known to meet one that is written, or one that is only read.
  std::vector<bool>::reference known(std::size_t region, bool other_is_written) {
    return known_[2 * region + other_is_written];
  }

  void note(std::size_t region, std::size_t other) {
    known(region, is_written(other)) = true;
    found_.push_back({std::min(region, other), std::max(region, other)});
  }

  // Returns the regions after `place` in the group that begin before the region at `place` ends.
  std::span<const std::size_t> behind(std::span<const std::size_t> group, std::size_t place) const {
    const std::span<const std::size_t> rest = group.subspan(place + 1);
    const auto last = std::partition_point(
        rest.begin(), rest.end(),
        [&, end = regions_[group[place]].end()](std::size_t other) { return regions_[other].offset < end; });
    return rest.first(static_cast<std::size_t>(last - rest.begin()));
  }

  std::int64_t pairs(std::span<const std::size_t> group) const {
    std::int64_t count = 0;
    for (std::size_t i = 0; i < group.size(); ++i) count += std::ssize(behind(group, i));
    return count;
  }

  void pair_by_pair(std::span<const std::size_t> group) {
    for (std::size_t i = 0; i < group.size(); ++i) {
      const std::size_t one = group[i];
      for (const std::size_t other : behind(group, i)) {
        if ((!is_written(one) && !is_written(other)) || known(other, is_written(one))) continue;
        if (intersect(regions_[one], regions_[other])) note(other, one);
      }
    }
  }

  // Sweeps over the runs in order. A run that meets any earlier run meets the one that ends last, so only
  // that one is kept: one for the regions that are read and one for those that are written.
  void run_by_run(std::span<const std::size_t> group) {
    std::vector<Run> runs;
    for (const std::size_t i : group)
      for (const std::int64_t begin : sorted_runs(regions_[i]))
        runs.push_back({begin, begin + regions_[i].run, i});
    std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
      return std::pair(a.begin, a.region) < std::pair(b.begin, b.region);
    });
    std::array<Run, 2> last{};  // of the regions that are only read, and of those that are written
    for (const Run& run : runs) {
      for (const bool other_is_written : {false, true}) {
        const Run& other = last[other_is_written];
        if ((!is_written(run.region) && !other_is_written) || known(run.region, other_is_written)) continue;
        if (run.begin < other.end) note(run.region, other.region);
      }
      Run& furthest = last[is_written(run.region)];
      if (run.end > furthest.end) furthest = run;
    }
  }

  std::span<const Region> regions_;
  std::size_t written_;
  std::vector<bool> known_;
  std::vector<Meeting> found_;
};

}  // namespace

std::vector<Meeting> meetings(std::span<const Region> regions, std::size_t written) {
  std::vector<std::size_t> order(regions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return regions[a].offset < regions[b].offset; });
  Search search(regions, written);
  for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
    std::int64_t bound = regions[order[begin]].end();
    for (end = begin + 1; end < order.size() && regions[order[end]].offset < bound; ++end)
      bound = std::max(bound, regions[order[end]].end());
    search.among(std::span(order).subspan(begin, end - begin));
  }
  std::vector<Meeting> found = search.take();
  std::sort(found.begin(), found.end(), [](const Meeting& a, const Meeting& b) {
    return std::pair(a.first, a.second) < std::pair(b.first, b.second);
  });
  return found;
}

}  // namespace tca::base
