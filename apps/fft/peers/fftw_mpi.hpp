// FFTW's own distributed transform, for comparison.
#pragma once

#include <memory>
#include <string>

#include "fft/field.hpp"
#include "fft/way.hpp"
#include "tca/world.hpp"

namespace tca::fft {

// Collective, of ranks that are MPI's and while an apps::MpiSession lives. It divides an array as slabs do where x and y are
// divisible by the number of ranks; null where they are not, with pencils, and in a build without FFTW's library for MPI. Its
// result has y before x, in which order its users go on with it: bringing it to the plan's output and back is not timed.
template <class Real>
std::unique_ptr<Way> fftw_mpi_way(World& world, const Field& field, const Ends<Real>& ends, bool measured);

}  // namespace tca::fft
