#include "shared/mpi_session.hpp"

#include "tca/error.hpp"

#ifdef OPENTCA_HAVE_MPI
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <exception>
#endif

namespace tca::apps {

#ifdef OPENTCA_HAVE_MPI

std::string mpi_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string all(text.data(), static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

MpiSession::Running::Running() {
  int running = 0;
  MPI_Initialized(&running);
  if (!running) MPI_Init(nullptr, nullptr);
  owned_ = !running;
}

// MPI_Finalize has no time limit. Ranks for which this one has waited in vain would not reach it either, so
// it is not called after an exception unless this rank is alone.
MpiSession::Running::~Running() {
  if (!owned_) return;
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (std::uncaught_exceptions() == 0 || ranks == 1) MPI_Finalize();
}

MpiSession::MpiSession(const World& world) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == world.rank() && size == world.size()) return;
  throw Error(
      Errc::invalid_argument,
      fmt::format("MPI counts this process as rank {} of {}, OpenTCA as rank {} of {}: to compare the two, "
                  "start the ranks under mpirun",
                  rank, size, world.rank(), world.size()));
}

#else

std::string mpi_version() { return {}; }

MpiSession::Running::Running() : owned_(false) {}
MpiSession::Running::~Running() = default;
MpiSession::MpiSession(const World&) {
  throw Error(Errc::incompatible, "this OpenTCA was built without MPI; install one and configure again");
}

#endif

}  // namespace tca::apps
