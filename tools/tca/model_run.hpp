// One run of `tca model`: what was asked for, checked, run, and what came of it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model_ledger.hpp"
#include "net/machine.hpp"

namespace tca::tool {

struct ModelOptions {
  std::string program = "himeno";
  std::string machine = "ha-pacs-tca";
  std::string scheme;   // empty: the first that the machine has
  std::string library;  // of its MPI libraries; empty: its default
  std::string fidelity = "auto";
  std::string grid = "auto";
  std::string size = "M";        // of Himeno
  std::string layout = "block";  // of halo, where no grid is given: which dimension is divided
  std::int64_t ranks = 0;        // 0: 2 for a ping-pong, else a sub-cluster's or a node's
  std::int64_t extent = 64;      // of a rank's cube, halo
  std::int64_t bytes = 65536;    // of messages
  std::int64_t element = 0;      // 0: 4 for Himeno, 8 for halo
  std::int64_t gpu = 0;          // that a node's only rank computes on
  std::int64_t iterations = 3;
  net::Overrides overrides;  // of the machine file's numbers, in its own units
  std::string trace, links;  // files to be written
};

// A kind of link of the network.
struct WireUse {
  std::string name;
  std::uint64_t links = 0;  // that carried something
  double busy_us = 0;       // an iteration, their mean
  double share = 0;         // of the run's time that the busiest was busy
  std::string busiest;
};

struct CostUse {
  Cost cost;
  double mean_us, least_us, most_us;  // an iteration, over the ranks
};

struct ModelResult {
  std::string title, scheme, fidelity, grid;  // grid: empty where there is none
  std::uint32_t ranks = 0;
  std::int64_t n = 0;
  std::uint64_t bytes = 0;         // as docs/results.md has it
  std::vector<double> samples_us;  // an iteration each
  double mean_us = 0;              // of all iterations together
  std::array<CostUse, costs> spent;
  double moving_us = 0;  // chains on their way, a rank and iteration
  std::vector<WireUse> wires;
  std::uint64_t events = 0;
  double seconds = 0;  // that it took to find out
};

// Throws Error{invalid_argument} for what does not exist or does not fit, in one line, and Error{timed_out} when ranks wait
// for each other for ever.
ModelResult run_model(const ModelOptions& options);

// The machine with its numbers overridden; throws when it has no such number.
net::Machine read_model_machine(const ModelOptions& options);

}  // namespace tca::tool
