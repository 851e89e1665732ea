#include "himeno/region.hpp"

#include <bit>

namespace tca::himeno {

namespace {

Word words(std::int64_t count) { return static_cast<Word>(count); }

Slab slab_of(const Box& box, const Extents& extents) {
  Slab slab;
  const Word height = words(box.end[0] - box.begin[0]);
  const Word width = words(box.end[1] - box.begin[1]);
  slab.cells = words(box.end[2] - box.begin[2]);
  slab.rows = height * width;
  slab.first = static_cast<Word>(index_in(extents, box.begin));
  slab.width = device::Divisor::of(width);
  slab.lane_bits = words(std::bit_width(slab.cells - 1));
  if (slab.lane_bits > Region::warp_bits) slab.lane_bits = Region::warp_bits;
  const Word lanes = Word{1} << slab.lane_bits;
  slab.chunks = device::Divisor::of((slab.cells + lanes - 1) / lanes);
  const Word rows_a_task = Word{1} << (Region::warp_bits - slab.lane_bits);
  slab.end_task = (slab.rows + rows_a_task - 1) / rows_a_task * slab.chunks.value;
  return slab;
}

}  // namespace

Region region_of(std::span<const Box> boxes, const Extents& extents) {
  Region region;
  region.plane = words(extents[1] * extents[2]);
  region.row = words(extents[2]);
  Slab* next = region.slabs;
  for (const Box& box : boxes) {
    if (box.empty()) continue;
    *next = slab_of(box, extents);
    region.tasks = next->end_task += region.tasks;
    ++next;
  }
  return region;
}

}  // namespace tca::himeno
