// Tests the library's own threads: they stop when they are told to, leave signals to the program, and are not
// waited for by a forked child.
#include "base/system/worker.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>

namespace tca::test {
namespace {

using base::Worker;
using namespace std::chrono_literals;

TEST(Worker, StopsWhenToldAndIsJoined) {
  std::atomic<bool> runs = false, is_over = false;
  Worker worker("tea", [&](const std::stop_token& stop) {
    runs = true;
    while (!stop.stop_requested()) std::this_thread::yield();
    is_over = true;
  });
  while (!runs) std::this_thread::yield();
  EXPECT_TRUE(worker.is_running());

  worker.stop();

  EXPECT_TRUE(is_over);
  EXPECT_FALSE(worker.is_running());
  worker.stop();
}

TEST(Worker, LooksAfterEveryPause) {
  std::atomic<int> looks = 0;
  const Worker worker = Worker::every("tea", 100us, [&] { ++looks; });
  while (looks < 3) std::this_thread::yield();
}

// Otherwise this test takes an hour.
TEST(Worker, EndsAPauseWhenItIsToldToStop) {
  Worker worker = Worker::every("tea", std::chrono::hours(1), [] {});
  worker = Worker();
  EXPECT_FALSE(worker.is_running());
}

TEST(Worker, TakesNoSignalsOfTheProgram) {
  sigset_t blocked;
  Worker worker("tea", [&](const std::stop_token&) { pthread_sigmask(SIG_SETMASK, nullptr, &blocked); });
  worker.stop();
  EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 1);
}

TEST(Worker, IsForgottenByAForkedChild) {
  Worker worker = Worker::every("tea", 1ms, [] {});
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // ends a child that waits for a thread that it does not have
    const bool had_one = worker.is_running();
    worker.stop();
    _exit(had_one ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(worker.is_running());
}

}  // namespace
}  // namespace tca::test
