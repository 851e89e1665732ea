// `tca qcd invert`, `dslash` and `pion` on GPUs; the first two can run beside NCCL and MPI in the same job.
#pragma once

#include "qcd/cli/report.hpp"
#include "qcd/gauge.hpp"
#include "qcd/pion.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// All are collective, in a world on cuda or cuda+mpi. They throw Error{invalid_argument} where this tca was
// built without CUDA.
bool measure_inversion_on_gpus(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);
void measure_operator_on_gpus(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);
// Sets in `pace` what started the solves, and on which GPUs.
qcd::Pion measure_pion_on_gpus(World& world, const qcd::Gauge& gauge, const QcdOptions& options,
                               const qcd::PionProgress& progress, QcdPace& pace);

}  // namespace tca::tool
