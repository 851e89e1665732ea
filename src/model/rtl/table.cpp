#include "model/rtl/table.hpp"

#include <algorithm>
#include <limits>

namespace tca::rtl {

namespace {

constexpr std::uint64_t most_run = std::uint64_t{1} << 30;  // the hub refuses 2 GiB
constexpr std::uint64_t most_count = (std::uint64_t{1} << 24) - 1;
constexpr std::uint64_t last_bit = std::uint64_t{1} << 40, notify_bit = std::uint64_t{1} << 41;

bool fits(std::int64_t pitch) {
  return pitch >= std::numeric_limits<std::int32_t>::min() &&
         pitch <= std::numeric_limits<std::int32_t>::max();
}

bool fits(const base::Shape::Loop& loop) {
  return loop.count <= most_count && fits(loop.to_pitch) && fits(loop.from_pitch);
}

std::uint64_t low(std::int64_t pitch) { return static_cast<std::uint32_t>(pitch); }

bool notifies(const Entry& entry) { return (entry[3] & notify_bit) != 0; }

void split_run(Table& table, base::Shape part, std::uint64_t to, std::uint64_t from) {
  for (std::uint64_t left = part.run; left > 0; left -= part.run, to += part.run, from += part.run) {
    part.run = std::min(left, most_run);
    add_copy(table, part, to, from);
  }
}

}  // namespace

void add_copy(Table& table, const base::Shape& shape, std::uint64_t to, std::uint64_t from) {
  const std::size_t loops = shape.loop_count;
  if (loops == 0 && shape.run > most_run) return split_run(table, shape, to, from);
  const bool whole = shape.run <= most_run && std::all_of(shape.loops.begin(), shape.loops.begin() + loops,
                                                          [](const auto& loop) { return fits(loop); });
  if (!whole) {
    base::Shape inner = shape;
    const base::Shape::Loop& outer = shape.loops[--inner.loop_count];
    for (std::uint64_t i = 0; i < outer.count; ++i)
      add_copy(table, inner, to + i * static_cast<std::uint64_t>(outer.to_pitch),
               from + i * static_cast<std::uint64_t>(outer.from_pitch));
    return;
  }
  Entry entry{from, to, 0, 0, shape.run, 0, 0, 0};
  for (std::size_t i = 0; i < 3; ++i) entry[i] |= (i < loops ? shape.loops[i].count : 1) << 40;
  for (std::size_t i = 0; i < loops; ++i)
    entry[5 + i] = low(shape.loops[i].to_pitch) << 32 | low(shape.loops[i].from_pitch);
  table.push_back(entry);
}

void add_flag(Table& table, std::uint64_t flag) {
  constexpr std::uint64_t once = std::uint64_t{1} << 40;
  if (table.empty() || notifies(table.back())) table.push_back({once, once, once});
  table.back()[2] |= flag;
  table.back()[3] |= notify_bit;
}

Table linked(Table table, std::uint64_t address) {
  for (std::size_t i = 0; i + 1 < table.size(); ++i) table[i][3] |= address + (i + 1) * entry_bytes;
  table.back()[3] |= last_bit;
  return table;
}

}  // namespace tca::rtl
