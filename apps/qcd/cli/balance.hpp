// `tca qcd balance`: the bandwidth that a node's network needs for balance (qcd/balance.hpp).
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tca::tool {

// The defaults are the lattice and the domains of the published table. Its GPUs' speed is not said there: that of a GPU of
// 2012, with which its four figures come out.
struct BalanceOptions {
  std::string lattice = "64x64x64x128";
  std::vector<std::string> domains{"16x16x16x16", "16x16x16x32", "32x32x32x32"};
  std::vector<int> gpus{2, 4};
  double gflops = 135;
  std::string precision = "single";
};

void add_balance_options(CLI::App& app, BalanceOptions& options);

// Prints the table. Refuses extents that cannot be read or do not divide.
int print_balance(const BalanceOptions& options);

}  // namespace tca::tool
