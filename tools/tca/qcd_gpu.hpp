// `tca qcd invert` and `tca qcd dslash` on GPUs: OpenTCA and, if asked, NCCL in the same run.
#pragma once

#include "qcd/gauge.hpp"
#include "qcd_report.hpp"
#include "tca/world.hpp"

namespace tca::tool {

// Both collective, in a world of fabric cuda. Throw Error{invalid_argument} where this tca was built without CUDA.
bool measure_inversion_on_gpus(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);
void measure_operator_on_gpus(World& world, const qcd::Gauge& gauge, const QcdSetting& setting);

}  // namespace tca::tool
