#include "base/region.hpp"

#include <algorithm>
#include <vector>

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

// A region as a box in mixed-radix coordinates: digit i counts steps of pitch[i], and no digit carries into
// the next.
struct Box {
  std::vector<std::int64_t> low, high;  // [low, high)
};

// The pitches of both regions when each divides the next, innermost (single bytes) first; otherwise empty.
std::vector<std::int64_t> common_radix(const Region& a, const Region& b) {
  std::vector<std::int64_t> pitches{1};
  for (const Region* region : {&a, &b}) {
    for (std::size_t i = 0; i < region->loop_count; ++i) pitches.push_back(region->loops[i].pitch);
  }
  std::sort(pitches.begin(), pitches.end());
  pitches.erase(std::unique(pitches.begin(), pitches.end()), pitches.end());
  for (std::size_t i = 1; i < pitches.size(); ++i) {
    if (pitches[i] % pitches[i - 1] != 0) return {};
  }
  return pitches;
}

std::optional<Box> as_box(const Region& region, const std::vector<std::int64_t>& pitches) {
  Box box;
  const std::size_t digits = pitches.size();
  for (std::size_t i = 0; i < digits; ++i) {
    const std::int64_t unit = pitches[i];
    const std::int64_t radix = i + 1 < digits ? pitches[i + 1] / unit : INT64_MAX;
    const std::int64_t digit = i + 1 < digits ? (region.offset / unit) % radix : region.offset / unit;
    std::int64_t count = i == 0 ? region.run : 1;
    for (std::size_t k = 0; k < region.loop_count; ++k) {
      if (region.loops[k].pitch == unit) count = std::max<std::int64_t>(count, 1) * region.loops[k].count;
    }
    if (count > radix - digit) return std::nullopt;  // carries: not a box in this radix
    box.low.push_back(digit);
    box.high.push_back(digit + count);
  }
  return box;
}

std::optional<ByteRange> intersect_boxes(const Box& a, const Box& b,
                                         const std::vector<std::int64_t>& pitches) {
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < pitches.size(); ++i) {
    const std::int64_t low = std::max(a.low[i], b.low[i]);
    if (low >= std::min(a.high[i], b.high[i])) return std::nullopt;
    begin += low * pitches[i];
  }
  return ByteRange{begin, begin + std::min(a.high[0], b.high[0]) - std::max(a.low[0], b.low[0])};
}

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

// The general case: both regions run by run. Costs memory in the number of runs, but only pitches that do not
// divide one another come here.
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

std::optional<ByteRange> intersect(const Region& a, const Region& b) {
  const std::int64_t begin = std::max(a.offset, b.offset);
  const std::int64_t end = std::min(a.end(), b.end());
  if (begin >= end) return std::nullopt;
  if (a.loop_count == 0 && b.loop_count == 0) return ByteRange{begin, end};
  if (const std::vector<std::int64_t> pitches = common_radix(a, b); !pitches.empty()) {
    const std::optional<Box> left = as_box(a, pitches), right = as_box(b, pitches);
    if (left && right) return intersect_boxes(*left, *right, pitches);
  }
  return intersect_runs(a, b);
}

}  // namespace tca::base
