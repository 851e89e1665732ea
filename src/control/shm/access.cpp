#include "control/shm/access.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/system/limits.hpp"
#include "control/shm/process.hpp"

namespace tca::shm {

namespace {

std::uint64_t permitted_capabilities() {
  std::ifstream file("/proc/self/status");
  std::uint64_t capabilities = 0;
  for (std::string word; file >> word;)
    if (word == "CapPrm:") file >> std::hex >> capabilities;
  return capabilities;
}

}  // namespace

Identity own_identity() {
  struct stat space {};
  return {.pid = getpid(),
          .user = geteuid(),
          .group = getegid(),
          .user_namespace =
              stat("/proc/self/ns/user", &space) == 0 ? static_cast<std::uint32_t>(space.st_ino) : 0,
          .is_dumpable = prctl(PR_GET_DUMPABLE) == 1 ? 1u : 0u,
          .capabilities = permitted_capabilities()};
}

std::string why_no_access(const Identity& other, int error) {
  if (base::is_of_limit(error)) return base::limit_met(error);
  if (access("/proc/self/fd", F_OK) != 0) return "/proc is not mounted here; mount it";
  if (error == ENOENT) {
    if (process_ended(other.pid, 0)) return "it has ended";
    return "/proc hides it; mount /proc without hidepid";
  }
  const Identity mine = own_identity();
  if (other.user_namespace != mine.user_namespace) {
    return "it is in another user namespace; start the ranks in one (several ranks in one container: "
           "`apptainer exec IMAGE mpirun ...`, not `mpirun ... apptainer exec IMAGE`)";
  }
  if (other.user != mine.user || other.group != mine.group) {
    return fmt::format("it runs as user {} and group {}, this one as {} and {}; start every rank as one user",
                       other.user, other.group, mine.user, mine.group);
  }
  if (other.is_dumpable == 0) {
    return "it is not dumpable: it has called prctl(PR_SET_DUMPABLE, 0), or its program is setuid, has file "
           "capabilities or cannot be read; leave that out";
  }
  if ((other.capabilities & ~mine.capabilities) != 0)
    return "it has capabilities that this one lacks; start every rank alike";
  return fmt::format("{}; a security module (SELinux, AppArmor) or a seccomp filter may forbid it",
                     std::strerror(error));
}

}  // namespace tca::shm
