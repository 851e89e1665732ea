#include "mpi_options.hpp"

#include <cstdlib>

namespace tca::tool {

void add_sub_cluster_option(CLI::App& app) {
  app.add_option_function<int>(
         "--sub-cluster",
         [](const int& ranks) { setenv("OPENTCA_SUBCLUSTER", std::to_string(ranks).c_str(), 1); },
         "On shm+mpi and cuda+mpi, so many ranks of a host reach each other's memory; all of them unless "
         "told otherwise")
      ->check(CLI::Range(1, 4096));
}

}  // namespace tca::tool
