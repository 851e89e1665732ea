#include "fabric/cuda/compile/plan.hpp"

#include <algorithm>

namespace tca::cuda {

namespace {

std::int64_t pitch(const base::Shape::Loop& loop, Side side) {
  return side == Side::to ? loop.to_pitch : loop.from_pitch;
}

template <class Number>
Number divided_up(Number n, Number by) {
  return (n + by - 1) / by;
}

}  // namespace

Word words_of(std::uint64_t bytes) {
  return static_cast<Word>(divided_up<std::uint64_t>(bytes, sizeof(Word)));
}

Word chunks_of(std::uint64_t bytes) { return divided_up(words_of(bytes), device::words_per_chunk); }

Word counted_chunks_of(std::uint64_t bytes) {
  return divided_up(words_of(bytes), device::counted_words_per_chunk);
}

Word counted_packets_of(std::uint64_t bytes) {
  return device::packets_of_words(words_of(bytes) + counted_chunks_of(bytes));
}

std::uint64_t packet_bytes(std::uint64_t bytes) {
  // Whole chunks are counted by themselves, because 32 bits cannot number the packets of every possible put.
  constexpr std::uint64_t chunk_bytes = device::words_per_chunk * sizeof(Word);
  const Word last = device::packets_of_words(words_of(bytes % chunk_bytes));
  return 2 * sizeof(device::Packet) *
         (bytes / chunk_bytes * device::packets_per_chunk + device::buffer_pitch(last));
}

std::uint64_t room_for_packets(std::uint64_t room, std::uint64_t senders) {
  constexpr std::uint64_t kept = std::uint64_t{16} << 20;
  return room > kept ? (room - kept) / 4 / std::max<std::uint64_t>(senders, 1) : 0;
}

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

base::Shape densified(base::Shape shape, Side side) {
  auto pitch = static_cast<std::int64_t>(shape.run);
  for (std::uint64_t i = 0; i < shape.loop_count; ++i) {
    (side == Side::to ? shape.loops[i].to_pitch : shape.loops[i].from_pitch) = pitch;
    pitch *= static_cast<std::int64_t>(shape.loops[i].count);
  }
  return shape;
}

std::vector<base::Part> parts_of(const base::Shape& shape, int protocol) {
  constexpr std::uint64_t wide = 16, large = 16384;
  std::vector<base::Part> parts = base::split(shape, largest_part);
  base::Part& last = parts.back();
  const std::uint64_t odd = last.shape.run % wide, even = last.shape.run - odd;
  if (protocol == direct && shape.loop_count == 0 && even >= large && odd % 8 != 0) {
    base::Part rest = last;
    last.shape.run = even;
    rest.shape.run = odd;
    rest.to_shift += static_cast<std::int64_t>(even);
    rest.from_shift += static_cast<std::int64_t>(even);
    parts.push_back(rest);
  }
  return parts;
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

}  // namespace tca::cuda
