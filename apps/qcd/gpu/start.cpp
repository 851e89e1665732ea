#include "qcd/gpu/start.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "qcd/gpu/site.hpp"
#include "tca/error.hpp"

namespace tca::qcd {

void check_on_gpus(const InverterOptions& options, Start start) {
  const auto refuse = [](const std::string& message) { throw Error(Errc::invalid_argument, message); };
  check(options);
  if (options.staggered) refuse("the staggered operator runs on the host, not on GPUs");
  if (!options.wilson.even_odd) refuse("on GPUs the operator is always even-odd preconditioned");
  if (start == Start::kernel && options.method == Method::bicgstab)
    refuse("the kernel that runs the whole solve does CG; BiCGStab is started by the host or a graph");
  if (start == Start::kernel && options.wilson.rhs != 1)
    refuse(
        "the kernel that runs the whole solve has one right-hand side; several together are started by "
        "the host or a graph");
  if (options.wilson.rhs > static_cast<int>(most_together))
    refuse(fmt::format("{} right-hand sides together; on GPUs these are at most {}", options.wilson.rhs,
                       most_together));
}

double iteration_us(const Timed& longer, const Timed& shorter) {
  constexpr int fewest = 4;
  const int more = longer.iterations - shorter.iterations;
  if (more < fewest) return longer.us / std::max(1, longer.iterations);
  return (longer.us - shorter.us) / more;
}

Start chosen_start(const InverterOptions& options, long long sites, bool has_halos, bool kernels_reach_all) {
  if (options.method == Method::bicgstab || options.wilson.rhs > 1 || !kernels_reach_all) return Start::graph;
  const bool mixed = options.precision == Precision::mixed;
  const long long border = !has_halos ? kernel_sites_alone
                           : mixed    ? mixed_sites_with_halos
                                      : kernel_sites_with_halos;
  return sites < border ? Start::kernel : Start::graph;
}

}  // namespace tca::qcd
