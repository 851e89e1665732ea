#include "mpi/presence.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "tca/version.hpp"

namespace tca::interposer {

namespace {

int number(std::initializer_list<const char*> variables, int otherwise) {
  for (const char* const variable : variables)
    if (const char* const value = std::getenv(variable)) return std::atoi(value);
  return otherwise;
}

// Returns a socket of that name, which nobody sees in the file system and which is gone with the process, or -1.
int hold(const std::string& name) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path + 1, name.data(), std::min(name.size(), sizeof address.sun_path - 1));
  const std::size_t length =
      offsetof(sockaddr_un, sun_path) + 1 + std::min(name.size(), sizeof address.sun_path - 1);
  if (bind(socket, reinterpret_cast<const sockaddr*>(&address), static_cast<socklen_t>(length)) == 0)
    return socket;
  const int error = errno;
  close(socket);
  errno = error;
  return -1;
}

}  // namespace

std::string Presence::name(int local_rank) const {
  return fmt::format("opentca-mpi/{}/{}/{}/{}.{}.{}", getuid(), job_, local_rank, TCA_VERSION_MAJOR,
                     TCA_VERSION_MINOR, TCA_VERSION_PATCH);
}

void Presence::announce() {
  if (socket_ >= 0) return;
  rank_ = number({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}, -1);
  ranks_ = number({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 0);
  if (const char* const job = std::getenv("OPENTCA_MPI_JOB")) job_ = job;
  if (rank_ >= 0 && !job_.empty()) socket_ = hold(name(rank_));
}

std::string Presence::obstacle() const {
  if (job_.empty()) return "the program was not started by `tca mpi`";
  if (rank_ < 0 || ranks_ <= 0)
    return "the launcher does not say how many ranks this host has; use mpirun of Open MPI or MPICH";
  if (socket_ < 0) return "another process has this rank's name";
  for (int other = 0; other < ranks_; ++other) {
    const int free = hold(name(other));
    if (free < 0 && errno == EADDRINUSE) continue;
    if (free >= 0) close(free);
    return fmt::format(
        "rank {} of this host runs without the library or with another version of it; put `tca mpi` before "
        "each "
        "program of the job",
        other);
  }
  return {};
}

}  // namespace tca::interposer
