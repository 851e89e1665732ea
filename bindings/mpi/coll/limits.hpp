// Up to which size the library's collectives are served rather than left to MPI.
#pragma once

#include <cstdint>

#include "tca/types.hpp"

namespace tca::interposer {

// In bytes of a block. Measured: beyond, copying into the collective's memory and out of it costs what is gained.
std::int64_t largest_served(CollectiveKind kind, int ranks);

}  // namespace tca::interposer
