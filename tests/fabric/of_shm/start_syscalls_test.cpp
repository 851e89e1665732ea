// Checks that `start` and `test` make no system call. The ranks run them under a seccomp filter that kills
// the process at its first one.
#include <gtest/gtest.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>

#include "ranks.hpp"

namespace tca::test {
namespace {

// After this call, the only system call that this thread may make is to end its process.
bool forbid_system_calls() {
  std::array<sock_filter, 4> program{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  }};
  sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

bool can_forbid() {
  const pid_t pid = fork();
  if (pid == 0) _exit(forbid_system_calls() ? 0 : 1);
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

class StartSyscalls : public testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  void SetUp() override {
    if (!can_forbid())
      GTEST_SKIP() << "this kernel or container does not let a process filter its system calls";
  }

  static std::string run(const std::string& channel, bool guarded,
                         const std::function<void(int step)>& also) {
    return process_ranks()->run(2, [&](World& world) {
      const int other = 1 - world.rank();
      std::vector<Window<double>> windows;
      std::vector<Chain> chains;
      for (int b = 0; b < 2; ++b) {
        windows.push_back(world.window<double>(5200));
        chains.push_back(world.chain("filtered", {.guarded = guarded, .time_limit = {}, .channel = channel}));
        chains.back().put(windows.back().on(other).at(2600), windows.back().at(0), stride(10, 3));
        chains.back().put(windows.back().on(other).at(2700), windows.back().at(40), block(2400));
        chains.back().expect(other).commit();
      }
      require(forbid_system_calls(), "no filter");
      for (int step = 0; step < 10'000; ++step) {
        Chain& chain = chains[static_cast<std::size_t>(step % 2)];
        chain.start();
        also(step);
        while (!chain.test()) {
        }
      }
      _exit(0);  // destructors would make system calls
    });
  }
};

TEST_P(StartSyscalls, None) {
  const auto [channel, guarded] = GetParam();
  EXPECT_EQ(run(channel, guarded, [](int) {}), "");
}

INSTANTIATE_TEST_SUITE_P(Routes, StartSyscalls,
                         testing::Combine(testing::Values("", "direct", "pull", "staged"), testing::Bool()));

// Shows that the filter works, so that the silence of the tests above means something.
TEST_F(StartSyscalls, TheFilterBites) {
  EXPECT_EQ(run("", true,
                [](int step) {
                  if (step == 10) (void)syscall(SYS_getppid);
                }),
            "a rank was ended by signal " + std::to_string(SIGSYS));
}

}  // namespace
}  // namespace tca::test
