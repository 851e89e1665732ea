// What Himeno's communication costs by itself, without an iteration around it.
#pragma once

#include <vector>

#include "himeno/cli/report.hpp"
#include "himeno/exchange.hpp"
#include "himeno/solver.hpp"
#include "tca/grid.hpp"

namespace tca::tool {

// Collective. Measures, beside MPI in the same job, a message of 8 bytes between ranks 0 and 1, and the
// halo's exchange of `solver`, whose outer cells are all rewritten before and whose ghosts are read after.
// Nothing is measured of a lone rank. Leaves other values in the pressure.
std::vector<HimenoAlone> measure_alone(World& world, const himeno::Solver& solver, const Grid& grid,
                                       himeno::Exchange& own, himeno::Exchange& mpi, bool guarded);

}  // namespace tca::tool
