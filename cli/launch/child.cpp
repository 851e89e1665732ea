// The launcher's child processes, from the fork on.
#include "cli/launch/child.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace tca::tool {
namespace {

void bind_to(std::span<const int> cpus) {
  const auto count = static_cast<std::size_t>(*std::max_element(cpus.begin(), cpus.end())) + 1;
  cpu_set_t* set = CPU_ALLOC(count);
  CPU_ZERO_S(CPU_ALLOC_SIZE(count), set);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), CPU_ALLOC_SIZE(count), set);
  // Binding is only a hint: a CPU that has gone offline must not keep the rank from running.
  sched_setaffinity(0, CPU_ALLOC_SIZE(count), set);
  CPU_FREE(set);
}

// How long the member that is asked to end first may take: mpirun gives its ranks a second between SIGTERM
// and SIGKILL.
constexpr int asked_may_take_ms = 3000;

int pidfd_of(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

}  // namespace

void remove_scratch(const char* folder) {
  if (*folder == '\0') return;
  std::error_code gone_already;
  std::filesystem::remove_all(folder, gone_already);
}

void become_guard(int lifeline) {
  setpgid(0, 0);
  prctl(PR_SET_NAME, "tca-guard");
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_BLOCK, &all, nullptr);
  dup2(lifeline, STDIN_FILENO);
  close_range(STDOUT_FILENO, ~0U, 0);
  LastWill will;
  int asked_first = -1;
  for (ssize_t got; (got = read(STDIN_FILENO, &will, sizeof will)) != 0;) {
    if (got == sizeof will && will.asked_first > 0) asked_first = pidfd_of(will.asked_first);
  }
  if (asked_first >= 0) {
    kill(0, SIGTERM);
    pollfd ended{asked_first, POLLIN, 0};
    poll(&ended, 1, asked_may_take_ms);
  }
  remove_scratch(will.scratch);
  kill(0, SIGKILL);  // a launcher that ends properly has killed the guard before this line
  _exit(0);
}

void become_rank(const RankStart& start, const Input::End& input, std::span<const int> cpus,
                 const TaggedOutput::Ends& output) {
  setpgid(0, start.group);
  prctl(PR_SET_PDEATHSIG, start.orphaned);
  if (getppid() != start.launcher) _exit(1);  // the launcher died before the line above
  if (!input.is_own) dup2(input.pipe.is_open() ? input.pipe.get() : start.null, STDIN_FILENO);
  if (output.out.is_open()) dup2(output.out.get(), STDOUT_FILENO);
  if (output.err.is_open()) dup2(output.err.get(), STDERR_FILENO);
  if (!cpus.empty()) bind_to(cpus);
  setrlimit(RLIMIT_NOFILE, &start.files);
  fcntl(start.control, F_SETFD, 0);
  sigprocmask(SIG_SETMASK, &start.signals, nullptr);
  execve(start.program.c_str(), start.argv.data(), start.environment.data());
  const int error = errno;
  if (write(start.exec_said, &error, sizeof error) < 0) _exit(1);
  _exit(127);
}

}  // namespace tca::tool
