#include "base/layout/shape.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "base/fail.hpp"
#include "base/nontemporal.hpp"

namespace tca::base {

namespace {

// One side of a pairing: its run and then its loops, innermost first, consumed piece by piece.
class Side {
 public:
  explicit Side(const Layout& layout) {
    loops_.push_back({layout.run(), 1});
    loops_.insert(loops_.end(), layout.loops().begin(), layout.loops().end());
  }

  bool done() const { return at_ == loops_.size(); }
  std::int64_t remaining() const { return loops_[at_].count; }

  // Consumes `count` iterations of the current loop and returns its pitch.
  std::int64_t take(std::int64_t count) {
    Layout::Loop& loop = loops_[at_];
    const std::int64_t pitch = loop.pitch;
    if (loop.count == count) {
      ++at_;
    } else {
      loop = {loop.count / count, pitch * count};
    }
    return pitch;
  }

 private:
  std::vector<Layout::Loop> loops_;
  std::size_t at_ = 0;
};

struct Level {
  std::int64_t count, to, from;
};

bool continues(const Level& below, const Level& level) {
  return level.to == below.count * below.to && level.from == below.count * below.from;
}

// Splits the loops of both sides into the coarsest levels that both share.
std::vector<Level> common_levels(const Layout& to, const Layout& from) {
  std::vector<Level> levels;
  Side left(to), right(from);
  while (!left.done() && !right.done()) {
    const std::int64_t step = std::min(left.remaining(), right.remaining());
    if (left.remaining() % step != 0 || right.remaining() % step != 0) {
      fail(Errc::invalid_argument, "a {} and a {} cannot be paired; their rows do not line up", to.describe(),
           from.describe());
    }
    const Level level{step, left.take(step), right.take(step)};
    if (!levels.empty() && continues(levels.back(), level)) {
      levels.back().count *= step;
    } else if (step > 1 || levels.empty()) {
      levels.push_back(level);
    }
  }
  return levels;
}

struct Pitches {
  std::int64_t to[Layout::max_loops];
  std::int64_t from[Layout::max_loops];
};

template <std::size_t Bytes>
struct FixedRun {
  void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, Bytes); }
};

// Copies a run in chunks of 64 bytes, and its rest in powers of two, so that no two stores overlap. memcpy
// ends a run whose length is not a power of two with a move that overlaps bytes it has already stored. Stores
// that return to a line or cross into the next one made puts of rows of 136 bytes to another core (EPYC, Zen
// 4) take 1.6 times as long.
struct ShortRows {
  static constexpr std::size_t chunk = 64;
  std::size_t bytes;

  static bool serves(std::size_t bytes) {
    return bytes > chunk && bytes < 512 && !std::has_single_bit(bytes);
  }

  void operator()(std::byte* to, const std::byte* from) const {
    std::size_t left = bytes;
    for (; left >= chunk; left -= chunk, to += chunk, from += chunk) std::memcpy(to, from, chunk);
    for_each_part<chunk / 2>(left, [&]<std::size_t Bytes>() {
      std::memcpy(to, from, Bytes);
      to += Bytes, from += Bytes;
    });
  }

 private:
  // Calls `run` for each power of two that `bytes` is the sum of, from the largest down.
  template <std::size_t Most, class Run>
  static void for_each_part(std::size_t bytes, Run run) {
    if ((bytes & Most) != 0) run.template operator()<Most>();
    if constexpr (Most > 1) for_each_part<Most / 2>(bytes, run);
  }
};

struct AnyRun {
  std::size_t bytes;
  void operator()(std::byte* to, const std::byte* from) const { std::memcpy(to, from, bytes); }
};

// Copies a run from memory that another core has written, and prefetches the bytes that follow. The hardware
// prefetcher stops at the end of a page and starts again only after some lines of the next page.
struct RunAhead {
  static constexpr std::ptrdiff_t ahead = 2048, cache_line = 64;
  std::size_t bytes;
  const std::byte* end;

  void operator()(std::byte* to, const std::byte* from) const {
    const std::byte* const next = from + std::min<std::ptrdiff_t>(ahead, end - from);
    for (const std::byte* line = next; line < end && line < next + bytes; line += cache_line)
      __builtin_prefetch(line);
    std::memcpy(to, from, bytes);
  }
};

struct NontemporalRun {
  std::size_t bytes;
  void operator()(std::byte* to, const std::byte* from) const { copy_nontemporal(to, from, bytes); }
};

template <class Move>
void walk(std::byte* to, const std::byte* from, const Shape& shape, const Pitches& pitch, Move move) {
  const auto count = [&](std::size_t level) {
    return level < shape.loop_count ? shape.loops[level].count : 1;
  };
  for (std::uint64_t k = 0; k < count(2); ++k, to += pitch.to[2], from += pitch.from[2]) {
    std::byte* to_row = to;
    const std::byte* from_row = from;
    if (count(0) == 2) {
      // Two separate calls: a hardware prefetcher predicts the next address of a load instruction only if
      // its addresses are evenly spaced.
      for (std::uint64_t j = count(1); j > 0; --j, to_row += pitch.to[1], from_row += pitch.from[1]) {
        move(to_row, from_row);
        move(to_row + pitch.to[0], from_row + pitch.from[0]);
      }
      continue;
    }
    for (std::uint64_t j = 0; j < count(1); ++j, to_row += pitch.to[1], from_row += pitch.from[1]) {
      std::byte* to_run = to_row;
      const std::byte* from_run = from_row;
      for (std::uint64_t i = count(0); i > 0; --i, to_run += pitch.to[0], from_run += pitch.from[0]) {
        move(to_run, from_run);
      }
    }
  }
}

enum class Dense { neither, to, from };

// Picks the copy function for the length of the runs. Short runs are copied with single moves: a call to
// memcpy for each 8-byte element of a strided face would double its cost.
void dispatch(std::byte* to, const std::byte* from, const Shape& shape, const Pitches& pitch, Dense dense) {
  switch (shape.run) {
    case 1:
      return walk(to, from, shape, pitch, FixedRun<1>());
    case 2:
      return walk(to, from, shape, pitch, FixedRun<2>());
    case 4:
      return walk(to, from, shape, pitch, FixedRun<4>());
    case 8:
      return walk(to, from, shape, pitch, FixedRun<8>());
    case 12:
      return walk(to, from, shape, pitch, FixedRun<12>());
    case 16:
      return walk(to, from, shape, pitch, FixedRun<16>());
    case 24:
      return walk(to, from, shape, pitch, FixedRun<24>());
    case 32:
      return walk(to, from, shape, pitch, FixedRun<32>());
    case 64:
      return walk(to, from, shape, pitch, FixedRun<64>());
    default:
      if (dense == Dense::from)
        return walk(to, from, shape, pitch, RunAhead{shape.run, from + shape.bytes()});
      if (ShortRows::serves(shape.run)) return walk(to, from, shape, pitch, ShortRows{shape.run});
      return walk(to, from, shape, pitch, AnyRun{shape.run});
  }
}

Pitches pitches_of(const Shape& shape, Dense dense) {
  Pitches pitch{};
  auto packed = static_cast<std::int64_t>(shape.run);
  for (std::size_t i = 0; i < shape.loop_count; ++i) {
    const Shape::Loop& loop = shape.loops[i];
    pitch.to[i] = dense == Dense::to ? packed : loop.to_pitch;
    pitch.from[i] = dense == Dense::from ? packed : loop.from_pitch;
    packed *= static_cast<std::int64_t>(loop.count);
  }
  return pitch;
}

void move(std::byte* to, const std::byte* from, const Shape& shape, Dense dense) {
  dispatch(to, from, shape, pitches_of(shape, dense), dense);
}

void split_into(std::vector<Part>& parts, Part part, std::uint64_t most) {
  if (part.shape.bytes() <= most) return parts.push_back(part);
  Part rest = part;
  if (part.shape.loop_count == 0) {
    const std::uint64_t half = part.shape.run / 32 * 16;
    part.shape.run = half;
    rest.shape.run -= half;
    rest.to_shift += static_cast<std::int64_t>(half);
    rest.from_shift += static_cast<std::int64_t>(half);
  } else {
    Shape::Loop& outer = part.shape.loops[part.shape.loop_count - 1];
    Shape::Loop& others = rest.shape.loops[part.shape.loop_count - 1];
    outer.count /= 2;
    others.count -= outer.count;
    rest.to_shift += static_cast<std::int64_t>(outer.count) * outer.to_pitch;
    rest.from_shift += static_cast<std::int64_t>(outer.count) * outer.from_pitch;
    for (Shape* half : {&part.shape, &rest.shape})
      if (half->loops[half->loop_count - 1].count == 1) half->loops[--half->loop_count] = {};
  }
  split_into(parts, part, most);
  split_into(parts, rest, most);
}

}  // namespace

std::string in_words(std::int64_t run, std::span<const Layout::Loop> loops) {
  if (loops.empty()) return fmt::format("block of {}", run);
  const Layout::Loop& inner = loops.front();
  if (loops.size() == 1 && run == 1) return fmt::format("stride of {}, pitch {}", inner.count, inner.pitch);
  if (loops.size() == 1)
    return fmt::format("block-stride of {} rows of {}, pitch {}", inner.count, run, inner.pitch);
  std::string shape;
  for (std::size_t i = loops.size(); i-- > 0;) shape += fmt::format("{} x ", loops[i].count);
  return fmt::format("sub-array of {}{}", shape, run);
}

Shape pair_up(const Layout& to, const Layout& from, std::size_t element_bytes) {
  if (to.elements() != from.elements()) {
    fail(Errc::invalid_argument, "{} elements cannot fill {}; both layouts must hold the same number",
         from.elements(), to.elements());
  }
  if (to.elements() == 0) return {};
  std::vector<Level> levels = common_levels(to, from);
  Shape shape;
  shape.run =
      element_bytes * static_cast<std::uint64_t>(levels.front().count);  // both sides begin with their run
  levels.erase(levels.begin());
  if (levels.size() > Layout::max_loops) {
    fail(Errc::invalid_argument, "a {} and a {} need {} common loops, more than {}; split the put",
         to.describe(), from.describe(), levels.size(), Layout::max_loops);
  }
  const auto bytes = static_cast<std::int64_t>(element_bytes);
  for (const Level& level : levels) {
    shape.loops[shape.loop_count++] = {static_cast<std::uint64_t>(level.count), level.to * bytes,
                                       level.from * bytes};
  }
  return shape;
}

std::optional<Shape> interleave(const Shape& shape, std::int64_t to_shift, std::int64_t from_shift) {
  constexpr std::uint64_t line = 64;
  const auto within = [](std::int64_t shift, std::int64_t pitch) {
    return std::abs(shift) <= std::abs(pitch);
  };
  if (shape.loop_count == 0 || shape.loop_count == Layout::max_loops || shape.run >= line)
    return std::nullopt;
  const Shape::Loop inner = shape.loops[0];
  if (!within(to_shift, inner.to_pitch) || !within(from_shift, inner.from_pitch)) return std::nullopt;

  Shape both = shape;
  both.loops[2] = shape.loops[1];
  both.loops[1] = inner;
  both.loops[0] = {2, to_shift, from_shift};
  both.loop_count = shape.loop_count + 1;
  return both;
}

std::vector<Part> split(const Shape& shape, std::uint64_t most) {
  std::vector<Part> parts;
  split_into(parts, {shape, 0, 0}, most);
  return parts;
}

void copy_loops(std::byte* to, const std::byte* from, const Shape& shape) {
  move(to, from, shape, Dense::neither);
}

void gather_loops(std::byte* dense, const std::byte* from, const Shape& shape) {
  move(dense, from, shape, Dense::to);
}

void scatter_loops(std::byte* to, const std::byte* dense, const Shape& shape) {
  move(to, dense, shape, Dense::from);
}

void copy_nontemporal(std::byte* to, const std::byte* from, const Shape& shape) {
  if (!worth_nontemporal(shape)) return copy(to, from, shape);
  walk(to, from, shape, pitches_of(shape, Dense::neither), NontemporalRun{shape.run});
}

std::byte* gather_nontemporal(std::byte* dense, const std::byte* from, const Shape& shape) {
  walk(dense, from, shape, pitches_of(shape, Dense::to), NontemporalRun{shape.run});
  return dense + shape.bytes();
}

}  // namespace tca::base
