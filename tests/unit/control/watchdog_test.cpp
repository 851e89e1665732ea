// Tests that an MPI call which does not return ends its process, unless the process was merely stopped
// meanwhile.
#include "control/mpi/watchdog.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tca/error.hpp"

namespace tca::mpi {
namespace {

using namespace std::chrono_literals;

// Returns the exit code of a process that makes a call of the given length: 0 when the call ends. For the
// time `stopped` the process is stopped in the middle of the call.
int exit_code(std::chrono::milliseconds limit, std::chrono::milliseconds length,
              std::chrono::milliseconds stopped) {
  const pid_t child = fork();
  if (child == 0) {
    Watchdog watchdog;
    const Watchdog::Call call(watchdog, limit, "a call");
    // The call sleeps in pieces, so that a time in which the process is stopped does not count.
    for (auto left = length; left > 0ms; left -= 10ms) std::this_thread::sleep_for(10ms);
    _exit(0);
  }
  if (stopped > 0ms) {
    std::this_thread::sleep_for(length / 2);
    kill(child, SIGSTOP);
    std::this_thread::sleep_for(stopped);
    kill(child, SIGCONT);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Watchdog, ACallThatDoesNotReturn) {
  EXPECT_EQ(exit_code(50ms, 10s, 0ms), static_cast<int>(Errc::timed_out));
}

TEST(Watchdog, ACallThatReturnsInTime) { EXPECT_EQ(exit_code(10s, 50ms, 0ms), 0); }

TEST(Watchdog, ACallOfAProcessThatWasStopped) { EXPECT_EQ(exit_code(600ms, 200ms, 900ms), 0); }

}  // namespace
}  // namespace tca::mpi
