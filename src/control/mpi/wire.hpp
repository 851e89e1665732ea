// The version that ranks of different builds compare before they read each other's messages.
#pragma once

#include <cstdint>

namespace tca::mpi {

// Changes whenever anything changes in what ranks exchange over MPI: at start-up, at commit, in steps, or
// when a rank is lost.
inline constexpr std::uint32_t wire_version = 4;

}  // namespace tca::mpi
