#include "control/shm/process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
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

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();  // an iterator would throw if the process ended meanwhile
  return all.str();
}

std::string folder_of(pid_t pid) { return "/proc/" + std::to_string(pid); }

// Returns the environment that a process was started with; empty if it cannot be read.
std::string environment_of(pid_t pid) { return read_all(folder_of(pid) + "/environ"); }

bool names(const std::string& environment, const std::string& variable) {
  return ('\0' + environment).find('\0' + variable + '=') != std::string::npos;
}

// Returns a numeric field of /proc/<pid>/stat, counted from 1 as in proc(5); 0 if it cannot be read. Fields
// are counted from the end of the second, the name of the process, which may contain any characters.
std::uint64_t field_of_stat(pid_t pid, int number) {
  const std::string all = read_all(folder_of(pid) + "/stat");
  std::istringstream behind_name(all.substr(std::min(all.size(), all.rfind(')') + 1)));
  std::string field;
  for (int i = 3; i < number; ++i) behind_name >> field;
  std::uint64_t value = 0;
  behind_name >> value;
  return value;
}

pid_t parent_of(pid_t pid) { return static_cast<pid_t>(field_of_stat(pid, 4)); }

}  // namespace

std::uint64_t time_of_start(pid_t pid) { return field_of_stat(pid, 22); }

pid_t nearest_without(const std::string& variable) {
  pid_t pid = getppid();
  while (names(environment_of(pid), variable)) pid = parent_of(pid);
  return pid;
}

int generations_with(const std::string& variable, const std::string& value) {
  const std::string entry = '\0' + variable + '=' + value + '\0';
  int generations = 0;
  for (pid_t pid = getppid(); ('\0' + environment_of(pid)).find(entry) != std::string::npos; ++generations)
    pid = parent_of(pid);
  return generations;
}

// A pidfd becomes readable as soon as its process ends, even before it is reaped.
bool process_ended(pid_t pid, std::uint64_t began) {
  if (pid == getpid()) return false;
  if (began != 0) {
    const std::uint64_t began_now = time_of_start(pid);
    if (began_now != 0 && began_now != began) return true;
  }
  const int fd = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  // If pidfds are forbidden or file descriptors used up, this at least notices processes that have been
  // reaped.
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

// mpirun has several threads as well, but the one that starts ranks stays.
EndsWithStarter::EndsWithStarter(const std::string& rank_variable) {
  const pid_t starter = getppid();
  // A starter whose environment cannot be read is not mpirun. It may be Slurm's daemon, which itself ends
  // what it has started.
  const std::string environment = environment_of(starter);
  const bool is_mpirun =
      rank_variable != "OPENTCA_RANK" && !environment.empty() && !names(environment, rank_variable);
  int already = 0;
  prctl(PR_GET_PDEATHSIG, &already);
  if (already != 0 || !(has_one_thread(folder_of(starter)) || is_mpirun)) return;
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return;
  thread_ = own_thread();
  if (getppid() != starter) raise(SIGKILL);  // it ended before the kernel was told
}

EndsWithStarter::~EndsWithStarter() {
  if (thread_ == own_thread()) prctl(PR_SET_PDEATHSIG, 0);
}

}  // namespace tca::shm
