#include "cli/options/mpi_options.hpp"

#include <cstdlib>

#include "boot/bring_up.hpp"
#include "cli/options/numbers.hpp"
#include "cli/options/refuse.hpp"

namespace tca::tool {

void check_built_with_mpi(const std::string& asks) {
  if (!boot::built_with_mpi())
    refuse("{}: this tca was built without MPI; install libopenmpi-dev and openmpi-bin and build again",
           asks);
}

void check_built(const std::string& fabric) {
  if (boot::on_gpus(fabric) && !boot::built_with_cuda())
    refuse("--fabric {}: this tca was built without CUDA; install the toolkit and build again", fabric);
  if (is_over_mpi(fabric)) check_built_with_mpi("--fabric " + fabric);
}

void add_sub_cluster_option(CLI::App& app, std::string& fabric) {
  app.add_option_function<int>(
         "--sub-cluster",
         [](const int& ranks) { setenv("OPENTCA_SUBCLUSTER", std::to_string(ranks).c_str(), 1); },
         "Number of ranks in a sub-cluster, which reach each other's memory, on shm+mpi and cuda+mpi; all "
         "ranks of a host when not given")
      ->check(between(1, 4096));
  app.parse_complete_callback([&app, &fabric] {
    if (fabric == "sim" && app.get_option("--sub-cluster")->count() > 0)
      refuse("--sub-cluster: a modelled machine has its own; leave it out");
    if (app.get_option("--fabric")->count() > 0 || base::variable("OPENTCA_FABRIC") != nullptr) return;
    if (const std::string otherwise = boot::default_fabric(); otherwise != "shm") fabric = otherwise;
  });
}

}  // namespace tca::tool
