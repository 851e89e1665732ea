// The teams of PEs on several hosts, and what they say of PEs that are elsewhere.
#include "nvshmem/teams.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "bindings/nvshmem/message_of.hpp"

namespace tca::nvshmem {
namespace {

constexpr nvshmem_team_t world = NVSHMEM_TEAM_WORLD, shared = NVSHMEM_TEAM_SHARED, node = NVSHMEMX_TEAM_NODE;

TEST(NvshmemTeams, AreAllTheSameOnOneHost) {
  const Teams teams(2, {0, 0, 0});

  EXPECT_FALSE(teams.span_hosts());
  for (const nvshmem_team_t team : {world, shared, node}) {
    EXPECT_EQ(teams.my_pe(team), 2);
    EXPECT_EQ(teams.size(team), 3);
    for (int pe = 0; pe < 3; ++pe) EXPECT_EQ(teams.translate(team, pe, world), pe);
  }
  EXPECT_EQ(message_of([&] { teams.require_reached(1); }), "none");
}

TEST(NvshmemTeams, NumberThePesOfAHost) {
  const Teams teams(3, {0, 1, 0, 1, 1});

  EXPECT_TRUE(teams.span_hosts());
  EXPECT_EQ(teams.node(), (std::vector{1, 3, 4}));
  EXPECT_EQ(teams.in_node(), (std::vector{-1, 0, -1, 1, 2}));
  EXPECT_EQ(teams.my_pe(world), 3);
  EXPECT_EQ(teams.my_pe(node), 1);
  EXPECT_EQ(teams.my_pe(shared), 1);
  EXPECT_EQ(teams.size(world), 5);
  EXPECT_EQ(teams.size(shared), 3);
}

TEST(NvshmemTeams, TranslateBothWays) {
  const Teams teams(3, {0, 1, 0, 1, 1});

  EXPECT_EQ(teams.translate(world, 4, node), 2);
  EXPECT_EQ(teams.translate(world, 2, node), -1);
  EXPECT_EQ(teams.translate(node, 2, world), 4);
  EXPECT_EQ(teams.translate(node, 2, shared), 2);
  EXPECT_EQ(teams.translate(node, 3, shared), -1);
  EXPECT_EQ(teams.translate(world, 5, world), -1);
  EXPECT_EQ(teams.translate(node, -1, world), -1);
  EXPECT_EQ(teams.translate(NVSHMEM_TEAM_INVALID, 0, world), -1);
  EXPECT_EQ(teams.translate(world, 0, NVSHMEM_TEAM_INVALID), -1);
}

TEST(NvshmemTeams, SayWhatIsAskedOfThemInVain) {
  const Teams teams(3, {0, 1, 0, 1, 1}), on_one(0, {0, 0});

  EXPECT_EQ(message_of([&] { teams.require_reached(4); }), "none");
  EXPECT_EQ(message_of([&] { teams.require_reached(2); }),
            "PE 2 is on another host; puts, gets and signals reach the PEs of one host, and what all PEs do "
            "together reaches all");
  EXPECT_EQ(message_of([&] { teams.require_reached(5); }), "there is no PE 5; there are 5");
  EXPECT_EQ(message_of([&] { teams.require_pe(node, 3); }), "there is no PE 3 on this host; there are 3");
  EXPECT_EQ(message_of([&] { on_one.require_pe(node, 2); }), "there is no PE 2; there are 2");
  EXPECT_EQ(message_of([&] { Teams::require_team(3); }),
            "there is no team 3; there are NVSHMEM_TEAM_WORLD, NVSHMEM_TEAM_SHARED and NVSHMEMX_TEAM_NODE");
}

}  // namespace
}  // namespace tca::nvshmem
