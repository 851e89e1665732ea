#include "qcd/gpu_start.hpp"

#include "tca/error.hpp"

namespace tca::qcd {

void check_on_gpus(const InverterOptions& options, Start start) {
  const auto refuse = [](const char* message) { throw Error(Errc::invalid_argument, message); };
  check(options);
  if (!options.wilson.even_odd) refuse("on GPUs the operator is always even-odd preconditioned");
  if (start == Start::kernel && options.method == Method::bicgstab)
    refuse("the kernel that runs the whole solve does CG; BiCGStab is started by the host or a graph");
  if (options.wilson.rhs != 1) refuse("on GPUs right-hand sides are solved one after another");
  if ((start == Start::host || start == Start::graph) && options.precision == Precision::mixed)
    refuse("on GPUs mixed precision needs the kernel that runs the whole solve");
}

Start chosen_start(const InverterOptions& options, long long sites, bool has_halos, bool kernels_reach_all) {
  if (options.method == Method::bicgstab) return Start::graph;
  const double graph_us = launches_us + (has_halos ? halos_us : 0);
  const bool mixed = options.precision == Precision::mixed;
  const bool kernel_is_faster = kernels_reach_all && static_cast<double>(sites) * kernel_us_a_site < graph_us;
  return mixed || kernel_is_faster ? Start::kernel : Start::graph;
}

}  // namespace tca::qcd
