// `tca qcd invert` and `tca qcd dslash` on the host: measures OpenTCA and, if asked, MPI in the same job.
#pragma once

#include <string>

#include "qcd/cli/report.hpp"
#include "qcd/gauge.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// Returns a field of all sites, of Gaussian numbers that depend on the seed, the global site and `number`
// alone.
qcd::Field<double> random_qcd_source(const qcd::Lattice& lattice, const qcd::Shape& shape, std::uint64_t seed,
                                     std::uint64_t number);

// Throws Error{refused} on all ranks unless, on every rank, an application over the peer gives the same
// result as OpenTCA's. Collective.
void require_same(World& world, const std::string& peer, bool is_same_here);

// Returns whether every solve converged. Collective.
bool measure_inversion(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);

// Measures applications of the operator. Collective.
void measure_operator(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);

}  // namespace tca::tool
