// `tca qcd invert`, `dslash` and `pion` on GPUs; the first two beside NCCL in the same run, if asked.
#pragma once

#include "qcd/gauge.hpp"
#include "qcd/pion.hpp"
#include "qcd_report.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// All collective, in a world of fabric cuda. Throw Error{invalid_argument} where this tca was built without CUDA.
bool measure_inversion_on_gpus(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);
void measure_operator_on_gpus(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);
// `pace` takes who started the solves, and on what.
qcd::Pion measure_pion_on_gpus(World& world, const qcd::Gauge& gauge, const QcdOptions& options,
                               const qcd::PionProgress& progress, QcdPace& pace);

}  // namespace tca::tool
