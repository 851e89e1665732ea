// The exchanges of a distributed transform by MPI's collectives, for comparison.
#pragma once

#include <memory>

#include "fft/transposition.hpp"

namespace tca::fft {

// Collective, of ranks that are MPI's and while an apps::MpiSession lives. By MPI_Alltoallv, of what is packed into a buffer
// and out of one, or by MPI_Alltoallw, of derived datatypes. Null in a build without MPI.
template <class Real>
std::unique_ptr<Transposition> mpi_transposition(World& world, const Decomposition& decomposition,
                                                 const Arrays<Real>& arrays, const Hop& hop, bool packed);

}  // namespace tca::fft
