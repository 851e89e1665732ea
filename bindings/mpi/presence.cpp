#include "mpi/presence.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
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

// Binds or connects a socket to a name that nobody sees in the file system and that is gone with the process which is
// bound to it. Returns the socket, or -1.
int open_socket(const std::string& name, int (*attach)(int, const sockaddr*, socklen_t)) {
  const int socket = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return -1;
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  const std::size_t letters = std::min(name.size(), sizeof address.sun_path - 1);
  std::memcpy(address.sun_path + 1, name.data(), letters);
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + letters);
  if (attach(socket, reinterpret_cast<const sockaddr*>(&address), length) == 0) return socket;
  close(socket);
  return -1;
}

// Connects rather than tries to bind: whoever binds a name for a moment would look like its owner to others.
bool is_held(const std::string& name) {
  const int socket = open_socket(name, ::connect);
  if (socket >= 0) close(socket);
  return socket >= 0;
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
  if (rank_ >= 0 && !job_.empty()) socket_ = open_socket(name(rank_), ::bind);
}

std::string Presence::obstacle() const {
  if (job_.empty()) return "the program was not started by `tca mpi`";
  if (rank_ < 0 || ranks_ <= 0)
    return "the launcher does not say how many ranks this host has; use mpirun of Open MPI or MPICH";
  if (socket_ < 0) return "another process has this rank's name";
  for (int other = 0; other < ranks_; ++other) {
    if (is_held(name(other))) continue;
    return fmt::format(
        "rank {} of this host runs without the library or with another version of it; put `tca mpi` before "
        "each program of the job",
        other);
  }
  return {};
}

}  // namespace tca::interposer
