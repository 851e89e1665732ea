// Tests which processes exist, that a process is told from a later one with its number, and what a rendezvous
// says of the processes that sat at it.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "boot/join.hpp"
#include "control/shm/process.hpp"
#include "control/shm/rendezvous.hpp"
#include "control/shm/segment.hpp"
#include "messages.hpp"
#include "tca/world.hpp"

namespace tca::test {
namespace {

using namespace std::chrono_literals;
using shm::Rendezvous, shm::Header, shm::Presence, shm::Seat, shm::ShmControl;

// A process that runs until it is told to end.
class Child {
 public:
  Child() : pid_(fork()) {
    if (pid_ == 0)
      for (;;) pause();
  }
  Child(const Child&) = delete;
  ~Child() { end(); }
  void end() {
    if (std::exchange(ended_, true)) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
  bool ended_ = false;
};

TEST(Process, IsToldFromALaterOneWithItsNumber) {
  Child child;
  const std::uint64_t began = shm::time_of_start(child.pid());
  EXPECT_GE(began, shm::time_of_start(getpid()));
  EXPECT_FALSE(shm::process_ended(child.pid(), began));
  EXPECT_FALSE(shm::process_ended(child.pid(), 0));
  EXPECT_TRUE(shm::process_ended(child.pid(), began - 1));
  child.end();
  EXPECT_TRUE(shm::process_ended(child.pid(), began));
  EXPECT_TRUE(shm::process_ended(child.pid(), 0));
  EXPECT_EQ(shm::time_of_start(child.pid()), 0u);
}

TEST(Process, KnowsWhoHasSetAVariable) {
  EXPECT_EQ(shm::nearest_without("NO_SUCH_VARIABLE_OF_ANYBODY"), getppid());
}

// A rendezvous with two seats, in this process's own memory.
class RendezvousTest : public testing::Test {
 protected:
  RendezvousTest() { rendezvous_.format(2); }

  void sit(int rank, pid_t pid, std::uint64_t began) {
    rendezvous_.seat(rank).pid = pid;
    rendezvous_.seat(rank).began = began;
    rendezvous_.seat(rank).presence = Presence::here;
  }

  struct alignas(Seat) Line {
    std::byte bytes[alignof(Seat)];
  };
  std::vector<Line> memory_{Rendezvous::bytes(2) / sizeof(Line) + 1};
  Rendezvous rendezvous_{memory_.front().bytes};
};

TEST_F(RendezvousTest, ASeatIsVacatedByAProcessWhoseNumberIsAnothersNow) {
  const Child child;
  sit(1, child.pid(), shm::time_of_start(child.pid()));
  EXPECT_FALSE(rendezvous_.is_vacated(1));
  sit(1, child.pid(), shm::time_of_start(child.pid()) - 1);
  EXPECT_TRUE(rendezvous_.is_vacated(1));
  EXPECT_FALSE(rendezvous_.has_died(1, Rendezvous::Look::quick));
}

TEST_F(RendezvousTest, ASeatThatNobodyTookIsCleared) {
  EXPECT_FALSE(rendezvous_.is_vacated(1));
  EXPECT_TRUE(rendezvous_.clear(1));
  EXPECT_TRUE(rendezvous_.is_vacated(1));  // no process may sit down there any more
  sit(0, getpid(), 0);
  EXPECT_FALSE(rendezvous_.clear(0));
  rendezvous_.seat(0).presence = Presence::failed;
  EXPECT_TRUE(rendezvous_.clear(0));
  rendezvous_.reopen();
  EXPECT_FALSE(rendezvous_.is_vacated(0));
  EXPECT_EQ(rendezvous_.seat(1).pid, 0);
}

TEST_F(RendezvousTest, ARefusalDoesNotEndAsALongerOneBefore) {
  rendezvous_.refuse("a long story, of which nothing is to remain", Header::written);
  rendezvous_.reopen();
  EXPECT_EQ(rendezvous_.refusal(), std::nullopt);
  rendezvous_.refuse("no", Header::apart);
  EXPECT_EQ(rendezvous_.refusal(), "no");
}

TEST_F(RendezvousTest, NobodyKnowsWhoHasDiedInAnotherPidNamespace) {
  Child child;
  sit(1, child.pid(), 0);
  child.end();
  EXPECT_TRUE(rendezvous_.is_vacated(1));
  ++rendezvous_.header().pid_namespace;
  EXPECT_FALSE(rendezvous_.is_vacated(1));
  rendezvous_.seat(1).presence = Presence::left;
  EXPECT_TRUE(rendezvous_.is_vacated(1));
}

TEST(StartUp, ARendezvousOfAnotherSizeIsRefusedAlsoWhileAnotherRankWritesWhy) {
  shm::Mapping memory = boot::make_thread_rendezvous(2);
  Rendezvous(memory.data()).header().refusal = Header::being_written;
  EXPECT_TRUE(refuses(Errc::incompatible, {"rank 1 says that the world has 3 ranks, rank 0 2"},
                      [&] { ShmControl(std::move(memory), 1, 3, 200ms); }));
}

TEST(StartUp, ASeatThatStaysClearedIsNobodys) {
  shm::Mapping memory = boot::make_thread_rendezvous(2);
  Rendezvous(memory.data()).seat(1).pid = Seat::being_reopened;
  EXPECT_TRUE(refuses(Errc::timed_out, {"rank 1 waited 0.", "for rank 0 to set up the next world"},
                      [&] { ShmControl(std::move(memory), 1, 2, 50ms); }));
}

// What each rank gives fits a seat, a mailbox, or neither.
template <std::size_t bytes>
void gather_numbers(World& world) {
  struct Letter {
    std::array<int, bytes / sizeof(int)> numbers;
  } mine;
  mine.numbers.fill(world.rank());
  int rank = 0;
  for (const Letter& letter : world.all_gather(mine)) {
    EXPECT_EQ(std::ranges::count(letter.numbers, rank), std::ssize(letter.numbers)) << rank;
    ++rank;
  }
}

TEST(Meeting, GathersWhatEachOfAHundredRanksGives) {
  World::run_threads(100, [](World& world) {
    for (int round = 0; round < 3; ++round) {
      gather_numbers<sizeof(int)>(world);
      gather_numbers<600>(world);
    }
    gather_numbers<2 * shm::mailbox_bytes + 400>(world);
  });
}

// Memory as a launcher makes it.
class LaunchersMemory : public testing::Test {
 protected:
  ~LaunchersMemory() override { close(file_); }

  int file_ = memfd_create("control", MFD_CLOEXEC);
  shm::Place place_{fmt::format("/proc/self/fd/{}", file_)};
};

TEST_F(LaunchersMemory, IsSetUpAgainWhereRank0HasDiedOverIt) {
  ASSERT_EQ(ftruncate(file_, static_cast<off_t>(Rendezvous::bytes(5))), 0);
  EXPECT_EQ(shm::find_rendezvous(place_, 1, true).data(), nullptr);
  shm::OwnSegment own(place_, 2, 100ms);
  const shm::Mapping rendezvous = shm::find_rendezvous(place_, 1, false);
  ASSERT_NE(rendezvous.data(), nullptr);
  EXPECT_EQ(Rendezvous(rendezvous.data()).header().ranks, 2);
}

TEST_F(LaunchersMemory, SaysWhyTheNextWorldWasRefusedToWhomItDoesNotCome) {
  shm::OwnSegment own(place_, 2, 100ms);
  const shm::Mapping memory = own.take_mapping();
  const Rendezvous rendezvous(memory.data());
  rendezvous.seat(1).pid = getpid();
  rendezvous.seat(1).presence = Presence::left;
  EXPECT_EQ(shm::find_rendezvous(place_, 1, true).data(), nullptr);
  rendezvous.refuse("rank 0 is of another make", Header::written);
  EXPECT_EQ(shm::find_rendezvous(place_, 1, false).data(), nullptr);
  EXPECT_TRUE(refuses(Errc::incompatible, {"rank 0 is of another make"},
                      [&] { shm::find_rendezvous(place_, 1, true); }));
}

}  // namespace
}  // namespace tca::test
