#include "qcd/cli/balance.hpp"

#include <fmt/format.h>

#include "cli/options/numbers.hpp"
#include "cli/options/one_of.hpp"
#include "qcd/balance.hpp"
#include "qcd/cli/options.hpp"

namespace tca::tool {

void add_balance_options(CLI::App& app, BalanceOptions& options) {
  app.add_option("-l,--lattice", options.lattice, "Number of sites along x, y, z and t; one number for all")
      ->capture_default_str();
  app.add_option("--domain", options.domains,
                 "Sites of a GPU, such as 16x16x16x32; several make several lines")
      ->capture_default_str();
  app.add_option("--gpus", options.gpus, "GPUs of a node, side by side in time")
      ->check(between(1, 1024))
      ->capture_default_str();
  app.add_option("--gflops", options.gflops,
                 "What a GPU sustains in the operator, as `tca qcd dslash` counts it")
      ->check(above_zero())
      ->capture_default_str();
  app.add_option("--precision", options.precision, "Floating-point precision")
      ->check(one_of({"single", "double"}))
      ->capture_default_str();
}

int print_balance(const BalanceOptions& options) {
  const qcd::Extents global = extents_of("--lattice", options.lattice);
  const int bytes_of_real = options.precision == "single" ? 4 : 8;
  std::string lines;
  for (const std::string& domain : options.domains) {
    const qcd::Extents own = extents_of("--domain", domain);
    for (const int gpus : options.gpus) {
      const qcd::Balance one = qcd::balance_of(global, own, gpus, options.gflops, bytes_of_real);
      const std::int64_t nodes = one.nodes[0] * one.nodes[1] * one.nodes[2] * one.nodes[3];
      lines += fmt::format("{:<14}{:>5}  {:<14}{:>7}{:>7}{:>13.1f}{:>11.2f} MB{:>9.2f}\n", qcd::describe(own),
                           gpus, qcd::describe(one.node), nodes, nodes * gpus, one.us, one.bytes * 1e-6,
                           one.gb_per_s());
    }
  }
  fmt::print("Bandwidth at which the exchange of faces takes as long as Wilson's operator, {} precision\n",
             options.precision);
  fmt::print("lattice   {}\n", qcd::describe(global));
  fmt::print(
      "a GPU     {:g} GFLOPS sustained, 1,320 operations a site; 12 reals go with each site of a face\n\n",
      options.gflops);
  fmt::print("{:<14}{:>5}  {:<14}{:>7}{:>7}{:>13}{:>14}{:>9}\n{}", "a GPU's", "GPUs", "a node's", "nodes",
             "GPUs", "operator us", "a node sends", "GB/s", lines);
  return 0;
}

}  // namespace tca::tool
