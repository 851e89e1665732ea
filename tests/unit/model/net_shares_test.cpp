// Tests max-min fair shares.
#include <gtest/gtest.h>

#include "model/net/shares.hpp"
#include "seed.hpp"

namespace tca::test {
namespace {

using net::Flow;
using net::share_out;
using Speeds = std::vector<std::uint64_t>;

constexpr std::uint64_t whole = 1000;

TEST(Shares, AreFullWhereThereIsEnough) {
  EXPECT_EQ(share_out({{4, {{0, 400}}}, {6, {{0, 600}}}}, 1, whole), (Speeds{1000, 1000}));
}

TEST(Shares, OfALinkAreEqual) {
  EXPECT_EQ(share_out({{10, {{0, 1000}}}, {10, {{0, 1000}}}}, 1, whole), (Speeds{500, 500}));
}

TEST(Shares, LeaveTheModestWhatTheyWant) {
  EXPECT_EQ(share_out({{2, {{0, 200}}}, {10, {{0, 1000}}}, {8, {{0, 800}}}}, 1, whole),
            (Speeds{1000, 400, 500}));
}

// A flow over two links is limited by the tighter one, and the other flows share the rest of its other link.
TEST(Shares, OfSeveralLinks) {
  const std::vector<Flow> flows{
      {10, {{0, 1000}, {1, 1000}}}, {10, {{0, 1000}}}, {10, {{1, 1000}}}, {10, {{1, 1000}}}};
  EXPECT_EQ(share_out(flows, 2, whole), (Speeds{333, 666, 333, 333}));
}

TEST(Shares, AreMaxMinFair) {
  const Seed seed;
  std::mt19937 random(seed.value());
  constexpr std::uint64_t fine = 1 << 24;
  for (int round = 0; round < 300; ++round) {
    constexpr std::uint32_t links = 6;
    std::vector<Flow> flows(random_in(random, 1, 12));
    for (Flow& flow : flows) {
      flow.rate = random_in(random, 1, 100);
      // Links have different speeds, but each has the same speed for all flows.
      for (std::uint32_t link = 0; link < links; ++link) {
        if (random_in(random, 0, 2) > 0) continue;
        flow.demands.push_back({link, static_cast<std::uint64_t>(flow.rate / (100 + 20 * link) * fine)});
      }
    }
    const Speeds speeds = share_out(flows, links, fine);
    std::vector<std::uint64_t> taken(links);
    const auto rate = [&](std::size_t i) { return flows[i].rate * static_cast<double>(speeds[i]) / fine; };
    std::vector<double> fastest(links);
    for (std::size_t i = 0; i < flows.size(); ++i) {
      ASSERT_LE(speeds[i], fine) << seed.how_to_repeat();
      for (const net::Demand& demand : flows[i].demands) {
        taken[demand.link] += demand.share * speeds[i] / fine;
        fastest[demand.link] = std::max(fastest[demand.link], rate(i));
      }
    }
    for (const std::uint64_t sum : taken) ASSERT_LE(sum, fine) << seed.how_to_repeat();
    // A flow that is slowed by more than rounding needs a link that is used up and on which no flow is
    // faster.
    for (std::size_t i = 0; i < flows.size(); ++i) {
      bool held = speeds[i] + 16 > fine;
      for (const net::Demand& demand : flows[i].demands) {
        held = held || (taken[demand.link] > fine - 1000 && rate(i) > fastest[demand.link] - 1e-3);
      }
      ASSERT_TRUE(held) << seed.how_to_repeat();
    }
  }
}

}  // namespace
}  // namespace tca::test
