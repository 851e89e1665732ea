// Tests the allocation of memory into which other ranks write: pieces that are given back are reused,
// whatever their sizes.
#include <gtest/gtest.h>

#include "boot/join.hpp"
#include "control/shm/shm_control.hpp"
#include "fabric/shm/inbox.hpp"
#include "messages.hpp"

namespace tca::test {
namespace {

// The inbox of a world of one rank.
class InboxTest : public testing::Test {
 protected:
  shm::Signal* at(std::uint64_t offset) const { return reinterpret_cast<shm::Signal*>(inbox_.at(0, offset)); }

  std::unique_ptr<shm::Space> space_ = shm::Space::of_threads();
  shm::ShmControl control_{boot::make_thread_rendezvous(1), 0, 1, std::chrono::seconds(5)};
  shm::Inbox inbox_{*space_, control_, {true}};
};

// Allocates as a program does that commits anew whenever its faces change.
TEST_F(InboxTest, HoldsOneChainAfterAnotherOfAnySize) {
  constexpr std::size_t megabytes = std::size_t{16} << 20;
  std::uint64_t before = inbox_.allocate(0, megabytes);
  for (std::size_t i = 1; i < 100; ++i) {
    const std::size_t change = i * shm::cache_line;
    const std::uint64_t next = inbox_.allocate(0, i % 2 == 0 ? megabytes + change : megabytes - change);
    const std::size_t last = (i - 1) * shm::cache_line;
    inbox_.release(0, at(before), i % 2 == 0 ? megabytes - last : megabytes + last);
    before = next;
  }
}

TEST_F(InboxTest, SaysHowMuchIsTaken) {
  constexpr std::size_t all = std::size_t{1} << 30;
  const std::size_t front = shm::cache_line + shm::PostBoard::bytes(1);
  inbox_.release(0, at(inbox_.allocate(0, 4096)), 4096);
  inbox_.allocate(0, 1024);
  EXPECT_TRUE(refuses(Errc::out_of_memory,
                      {"already stage 1024 of 1073741824 bytes, and no 1073741824 more lie together",
                       fmt::format("at most {}", all - front - 1024), "option channel, \"direct\""},
                      [&] { inbox_.allocate(0, all); }));
}

}  // namespace
}  // namespace tca::test
