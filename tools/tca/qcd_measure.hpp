// `tca qcd invert` and `tca qcd dslash` on the host: OpenTCA and, if asked, MPI in the same run.
#pragma once

#include <string>

#include "qcd/gauge.hpp"
#include "qcd_report.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// Gaussian numbers that depend on the seed, the global site and `number` alone; of a field of all sites.
qcd::Field<double> random_qcd_source(const qcd::Lattice& lattice, const qcd::Shape& shape, std::uint64_t seed,
                                     std::uint64_t number);

// Collective. Throws Error{refused} on every rank alike unless each finds that an application over a peer gives it what OpenTCA's
// does.
void require_same(World& world, const std::string& peer, bool is_same_here);

// Collective. Whether every solve converged.
bool measure_inversion(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);

// Collective.
void measure_operator(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);

}  // namespace tca::tool
