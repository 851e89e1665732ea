#include "qcd/gpu_start.hpp"

#include "tca/error.hpp"

namespace tca::qcd {

void check_on_gpus(const InverterOptions& options, Start start) {
  const auto refuse = [](const char* message) { throw Error(Errc::invalid_argument, message); };
  check(options);
  if (!options.wilson.even_odd) refuse("on GPUs the operator is always even-odd preconditioned");
  if (options.method != Method::cg) refuse("on GPUs there is CG; BiCGStab runs on the host");
  if (options.wilson.rhs != 1) refuse("on GPUs right-hand sides are solved one after another");
  if ((start == Start::host || start == Start::graph) && options.precision == Precision::mixed)
    refuse("on GPUs mixed precision needs the kernel that runs the whole solve");
}

Start chosen_start(long long sites, bool has_halos, bool mixed) {
  const double graph_us = launches_us + (has_halos ? halos_us : 0);
  return mixed || static_cast<double>(sites) * kernel_us_a_site < graph_us ? Start::kernel : Start::graph;
}

}  // namespace tca::qcd
