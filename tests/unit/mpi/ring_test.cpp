#include "mpi/engine/ring.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <vector>

namespace tca::test {
namespace {

using p2p::Fragment;
using p2p::Kind;
using p2p::Line;
using p2p::Ring;
using p2p::RingReader;
using p2p::RingWriter;
using p2p::Shared;

constexpr std::size_t data_bytes = 4096;

struct Ends {
  Shared memory{Ring::size(data_bytes)};
  RingWriter writer{{memory.data(), data_bytes}};
  RingReader reader{{memory.data(), data_bytes}, getpid()};

  void write(std::uint64_t value) {
    Line& line = writer.line();
    line.kind = Kind::whole;
    line.bytes = value;
    writer.publish();
  }
  std::uint64_t read() {
    const Line* line = reader.look();
    if (line != nullptr && line->kind == Kind::grown) {
      reader.follow(line->body.growth);
      line = reader.look();
    }
    if (line == nullptr) return 0;
    const std::uint64_t value = line->bytes;
    reader.next();
    return value;
  }
};

TEST(Ring, BringsLinesInOrderOverManyLaps) {
  Ends ends;

  for (std::uint64_t value = 1; value < 100; ++value) {
    ASSERT_TRUE(ends.writer.has_room(0));
    EXPECT_EQ(ends.reader.look(), nullptr);
    ends.write(value);
    EXPECT_EQ(ends.read(), value);
  }
}

TEST(Ring, KeepsBytesInARow) {
  Ends ends;
  std::vector<Fragment> fragments;

  for (const std::uint64_t bytes : {2000u, 1700u, 600u, 1u, 2048u}) {
    while (!ends.writer.has_room(bytes)) {
      ASSERT_FALSE(fragments.empty());
      ends.reader.release(fragments.back());
      fragments.clear();
    }
    fragments.push_back({ends.writer.take(bytes), bytes, 0});
    EXPECT_LE(fragments.back().position % data_bytes + bytes, data_bytes);
    EXPECT_EQ(fragments.back().position % p2p::cache_line, 0u);
  }
}

TEST(Ring, GoesOnInALargerOneWhenItIsFull) {
  Ends ends;
  std::uint64_t written = 0;
  while (ends.writer.has_room(0)) ends.write(++written);
  ends.writer.grow(10'000);

  EXPECT_TRUE(ends.writer.has_room(10'000));
  ends.write(++written);
  EXPECT_FALSE(ends.writer.is_followed());
  for (std::uint64_t value = 1; value <= written; ++value) EXPECT_EQ(ends.read(), value);
  EXPECT_TRUE(ends.writer.is_followed());
}

}  // namespace
}  // namespace tca::test
