#include "fabric/shm/process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

namespace tca::shm {

namespace {

pid_t own_thread() { return static_cast<pid_t>(syscall(SYS_gettid)); }

bool has_one_thread(const std::string& process) {
  std::error_code unreadable;
  std::filesystem::directory_iterator threads(process + "/task", unreadable);
  return !unreadable && std::distance(begin(threads), end(threads)) == 1;
}

// False as well where that cannot be read: what Slurm's daemon has started it also ends.
bool lacks_variable(const std::string& process, const std::string& name) {
  std::ifstream file(process + "/environ", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return !all.empty() && ('\0' + all).find('\0' + name + '=') == std::string::npos;
}

}  // namespace

// A pidfd becomes readable when its process ends, even while nobody has reaped it.
bool process_ended(pid_t pid) {
  if (pid == getpid()) return false;
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  // Where pidfds are forbidden or used up, this at least sees what has been reaped.
  if (fd < 0) return kill(pid, 0) != 0 && errno == ESRCH;
  pollfd watch{fd, POLLIN, 0};
  const bool ended = ::poll(&watch, 1, 0) > 0;
  close(fd);
  return ended;
}

std::uint32_t own_pid_namespace() {
  struct stat status {};
  return stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::uint32_t>(status.st_ino) : 0;
}

// mpirun has threads, of which the one that starts ranks stays.
EndsWithStarter::EndsWithStarter(const std::string& told_by) {
  const std::string starter = "/proc/" + std::to_string(getppid());
  const bool is_mpirun = told_by != "OPENTCA_RANK" && lacks_variable(starter, told_by);
  int already = 0;
  prctl(PR_GET_PDEATHSIG, &already);
  if (already != 0 || !(has_one_thread(starter) || is_mpirun)) return;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0) thread_ = own_thread();
}

EndsWithStarter::~EndsWithStarter() {
  if (thread_ == own_thread()) prctl(PR_SET_PDEATHSIG, 0);
}

}  // namespace tca::shm
