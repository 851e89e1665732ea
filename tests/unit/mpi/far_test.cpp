// Messages in memory that is no host's, as that of a GPU: here a host's, in which all bytes are kept inverted.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <numeric>
#include <vector>

#include "ranks.hpp"

namespace tca::test {
namespace {

using p2p::Mode;
using p2p::Request;

class Far final : public p2p::Scattering {
 public:
  Far(std::size_t count, int first) : bytes_(count * sizeof(int)), address_(bytes_.data()) {
    std::vector<int> values(count);
    std::iota(values.begin(), values.end(), first);
    scatter(bytes_.data(), 0, bytes_.size(), reinterpret_cast<const std::byte*>(values.data()));
  }
  std::span<const std::byte> reach() const override { return std::as_bytes(std::span(&address_, 1)); }
  void gather(const std::byte* buffer, std::size_t at, std::size_t bytes, std::byte* into) const override {
    std::transform(buffer + at, buffer + at + bytes, into, [](std::byte byte) { return ~byte; });
  }
  void scatter(std::byte* buffer, std::size_t at, std::size_t bytes, const std::byte* from) const override {
    std::transform(from, from + bytes, buffer + at, [](std::byte byte) { return ~byte; });
  }

  p2p::Source source() const { return {bytes_.data(), bytes_.size(), this}; }
  p2p::Target target() { return {bytes_.data(), bytes_.size(), this}; }
  bool operator==(const Far& other) const { return bytes_ == other.bytes_; }

 private:
  std::vector<std::byte> bytes_;
  const std::byte* address_;
};

// Fetches for targets that are far, too.
struct Fetching {
  std::atomic<int> times{0};

  p2p::Options options(bool is_able) {
    return {.ring_bytes = 4096,
            .fragment_bytes = 1024,
            .offered_from = 8192,
            .idle = {},
            .fetch = [this, is_able](int, std::span<const std::byte> reach, std::size_t bytes,
                                     const p2p::Target& target) {
              if (!is_able || target.scattering == nullptr) return false;
              const std::byte* from = nullptr;
              std::memcpy(&from, reach.data(), sizeof from);
              std::memcpy(target.data, from, bytes);
              ++times;
              return true;
            }};
  }
};

class FarMessages : public testing::TestWithParam<std::tuple<std::size_t, bool>> {};
INSTANTIATE_TEST_SUITE_P(Engine, FarMessages,
                         testing::Combine(testing::Values(1, 100, 1000, 50'000), testing::Bool()));

TEST_P(FarMessages, AreFetchedOrGiven) {
  const auto [count, is_able] = GetParam();
  Fetching fetching;
  run_threads(
      2,
      [&, count = count](const Rank& rank) {
        for (const Mode mode : {Mode::standard, Mode::synchronous, Mode::buffered})
          for (int tag = 0; tag < 3; ++tag) {
            const Far sent(count, tag);
            std::vector<int> near(count, -1);
            if (rank.number == 0) {
              rank.engine.send(rank.engine.context(0), 1, tag, sent.source(), mode);
              rank.engine.send(rank.engine.context(0), 1, tag, sent.source(), mode);
            } else {
              Request request, other;
              Far received(count, -7);
              rank.engine.start_receive(request, rank.engine.context(0), 0, tag, received.target());
              rank.engine.wait(request);
              EXPECT_EQ(received, sent);
              rank.engine.start_receive(other, rank.engine.context(0), p2p::any_source, tag,
                                        {near.data(), count * sizeof(int)});
              rank.engine.wait(other);
              EXPECT_EQ(near.back(), tag + static_cast<int>(count) - 1);
              EXPECT_EQ(other.failure, p2p::Failure::none);
            }
          }
      },
      fetching.options(is_able));
  // Others may have been moved before.
  if (is_able)
    EXPECT_GE(fetching.times.load(), 3);
  else
    EXPECT_EQ(fetching.times.load(), 0);
}

TEST(FarMessages, OfFewBytesDoNotWaitForTheirReceiver) {
  Fetching fetching;
  run_threads(
      2,
      [](const Rank& rank) {
        p2p::Context& context = rank.engine.context(0);
        for (int round = 0; round < 20; ++round) {
          const Far sent(100, 100 * rank.number + round), expected(100, 100 * (1 - rank.number) + round);
          Far received(100, -1);
          Request request, receive;
          // Both send first, and overwrite what they have sent.
          rank.engine.start_send(request, context, 1 - rank.number, 3, sent.source());
          rank.engine.wait(request);
          const_cast<Far&>(sent) = Far(100, -5);
          rank.engine.start_receive(receive, context, 1 - rank.number, 3, received.target());
          rank.engine.wait(receive);
          EXPECT_EQ(received, expected);
        }
      },
      fetching.options(true));
}

TEST(FarMessages, OfARankToItselfAreCopied) {
  run_threads(1, [](const Rank& rank) {
    const Far sent(1000, 3);
    Far received(1000, -1);
    Request request;
    rank.engine.start_receive(request, rank.engine.context(0), 0, 1, received.target());
    rank.engine.send(rank.engine.context(0), 0, 1, sent.source());
    rank.engine.wait(request);
    EXPECT_EQ(received, sent);
  });
}

}  // namespace
}  // namespace tca::test
