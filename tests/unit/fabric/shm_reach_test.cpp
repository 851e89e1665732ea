// Tests how ranks are divided into sub-clusters by what they reach, and that a message names what is in the way.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "control/shm/access.hpp"
#include "fabric/shm/reach.hpp"

namespace tca::test {
namespace {

using shm::divide, shm::Found, shm::Identity;

// Everybody attaches to everybody, except for these pairs of rank and other.
Found all_but(std::size_t ranks, const std::vector<std::pair<std::size_t, std::size_t>>& pairs) {
  Found found;
  found.attaches.assign(ranks, shm::Reach(ranks, true));
  for (const auto& [rank, other] : pairs) found.attaches[rank][other] = false;
  return found;
}

TEST(Reach, MakesOneSubClusterOfAHost) {
  EXPECT_EQ(divide({0, 0, 1, 0, 1}, 0, {}), (std::vector{0, 0, 1, 0, 1}));
  EXPECT_EQ(divide({0, 0, 1, 0, 1}, 0, all_but(5, {})), (std::vector{0, 0, 1, 0, 1}));
}

TEST(Reach, DividesAHostBySize) {
  EXPECT_EQ(divide({0, 0, 0, 0, 0}, 2, {}), (std::vector{0, 0, 1, 1, 2}));
  EXPECT_EQ(divide({0, 1, 0, 1, 0, 1}, 2, {}), (std::vector{0, 1, 0, 1, 2, 3}));
}

TEST(Reach, PutsRanksTogetherThatReachOneAnother) {
  EXPECT_EQ(divide({0, 0, 0}, 0, all_but(3, {{1, 0}, {1, 2}})), (std::vector{0, 1, 0}));
  // One direction is not enough, nor that two reach a third.
  EXPECT_EQ(divide({0, 0}, 0, all_but(2, {{0, 1}})), (std::vector{0, 1}));
  EXPECT_EQ(divide({0, 0, 0}, 0, all_but(3, {{0, 2}})), (std::vector{0, 0, 1}));
  EXPECT_EQ(divide({0, 0, 0, 0}, 2, all_but(4, {{2, 3}})), (std::vector{0, 0, 1, 2}));
}

TEST(Access, NamesWhatIsInTheWay) {
  const Identity mine = shm::own_identity();
  const auto why = [&](void (*change)(Identity&), int error = EACCES) {
    Identity other = mine;
    change(other);
    return shm::why_no_access(other, error);
  };
  EXPECT_EQ(mine.pid, getpid());
  const auto says = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  EXPECT_TRUE(says(why([](Identity& i) { ++i.user_namespace; }),
                   "in another user namespace; start the ranks in one"));
  EXPECT_TRUE(says(why([](Identity& i) { ++i.user; }), "start every rank as one user"));
  EXPECT_TRUE(says(why([](Identity& i) { i.is_dumpable = 0; }),
                   "prctl(PR_SET_DUMPABLE, 0), or its program is setuid"));
  EXPECT_TRUE(
      says(why([](Identity& i) { i.capabilities = ~0ull; }), "it has capabilities that this one lacks"));
  EXPECT_TRUE(says(why([](Identity&) {}), "Permission denied; a security module"));
  EXPECT_TRUE(says(why([](Identity&) {}, EMFILE), "files open (`ulimit -n`)"));
  EXPECT_TRUE(says(why([](Identity& i) { i.pid = 1 << 22; }, ENOENT), "it has ended"));
  EXPECT_TRUE(says(why([](Identity&) {}, ENOENT), "mount /proc without hidepid"));
}

}  // namespace
}  // namespace tca::test
