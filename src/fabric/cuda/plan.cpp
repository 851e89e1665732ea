#include "fabric/cuda/plan.hpp"

#include <algorithm>

namespace tca::cuda {

namespace {

void split_into(std::vector<Part>& parts, Part part, std::uint64_t most) {
  if (part.shape.bytes() <= most) {
    parts.push_back(part);
    return;
  }
  Part rest = part;
  if (part.shape.loop_count == 0) {
    // A multiple of 16 keeps the alignment.
    const std::uint64_t half = part.shape.run / 32 * 16;
    part.shape.run = half;
    rest.shape.run -= half;
    rest.to_offset += half;
    rest.from_offset += half;
  } else {
    base::Shape::Loop& outer = part.shape.loops[part.shape.loop_count - 1];
    base::Shape::Loop& others = rest.shape.loops[part.shape.loop_count - 1];
    outer.count /= 2;
    others.count -= outer.count;
    rest.to_offset += static_cast<std::uint64_t>(static_cast<std::int64_t>(outer.count) * outer.to_pitch);
    rest.from_offset += static_cast<std::uint64_t>(static_cast<std::int64_t>(outer.count) * outer.from_pitch);
    for (Part* half : {&part, &rest}) {
      if (half->shape.loops[half->shape.loop_count - 1].count == 1) --half->shape.loop_count;
    }
  }
  split_into(parts, part, most);
  split_into(parts, rest, most);
}

std::int64_t pitch(const base::Shape::Loop& loop, Side side) {
  return side == Side::to ? loop.to_pitch : loop.from_pitch;
}

template <class Number>
Number divided_up(Number n, Number by) {
  return (n + by - 1) / by;
}

}  // namespace

Word lines_of(std::uint64_t bytes) {
  return static_cast<Word>(divided_up<std::uint64_t>(bytes, device::bytes_per_line));
}

Word chunks_of(std::uint64_t bytes) { return divided_up(lines_of(bytes), device::lines_per_chunk); }

Word segments_of(std::uint64_t bytes) {
  constexpr std::uint64_t bytes_each = 16384, most = 128;
  return static_cast<Word>(std::clamp<std::uint64_t>(divided_up(bytes, bytes_each), 1, most));
}

Word atom_bytes(const base::Shape& shape, Side side, std::uintptr_t address, Word most) {
  std::uint64_t bits = most | shape.run | address;
  for (std::uint64_t i = 0; i < shape.loop_count; ++i)
    bits |= static_cast<std::uint64_t>(pitch(shape.loops[i], side));
  return static_cast<Word>(bits & (~bits + 1));
}

device::Loops loops_of(const base::Shape& shape, Word atom_bytes) {
  device::Loops loops;
  loops.atoms = static_cast<Word>(shape.bytes() / atom_bytes);
  loops.depth = static_cast<Word>(shape.loop_count);
  loops.run = device::Divisor::of(static_cast<Word>(shape.run / atom_bytes));
  for (std::uint64_t i = 0; i + 1 < shape.loop_count; ++i) {
    loops.counts[i] = device::Divisor::of(static_cast<Word>(shape.loops[i].count));
  }
  return loops;
}

device::Pitches pitches_of(const base::Shape& shape, Side side) {
  device::Pitches pitches;
  for (std::uint64_t i = 0; i < shape.loop_count; ++i) pitches.pitch[i] = pitch(shape.loops[i], side);
  return pitches;
}

std::vector<Part> split(const base::Shape& shape, std::uint64_t most) {
  std::vector<Part> parts;
  split_into(parts, {shape, 0, 0}, std::min(most, largest_part));
  return parts;
}

}  // namespace tca::cuda
