#include "fabric/shm/process.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace tca::shm {

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

}  // namespace tca::shm
