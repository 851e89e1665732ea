// One run of `tca model`: its options, their checks, and its result.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "model/ledger.hpp"
#include "model/machine/machine.hpp"

namespace tca::tool {

struct ModelOptions {
  std::string program = "himeno";
  std::string machine = "ha-pacs-tca";
  std::string scheme;     // empty: the machine's first one
  std::string algorithm;  // of a collective; empty: the library's choice
  std::string library;    // one of the machine's MPI libraries; empty: its default
  std::string fidelity = "auto";
  std::string grid = "auto";
  std::string size;              // empty: the program's own default
  std::string layout = "block";  // of halo without a grid: which dimension is divided
  std::int64_t ranks = 0;  // 0: 2 for a ping-pong, otherwise as many as puts reach in a sub-cluster or a node
  std::int64_t extent = 64;    // of a rank's cube in halo
  std::int64_t bytes = 65536;  // of messages
  std::int64_t element = 0;    // 0: 4 for Himeno and QCD, 8 for halo
  std::int64_t gpu = 0;        // the one that a node's only rank computes on
  std::int64_t iterations = 3;
  net::Overrides overrides;  // of the machine file's numbers, in its own units
  std::string trace, links;  // files to write
};

// The use of one kind of link of the network.
struct WireUse {
  std::string name;
  std::uint64_t links = 0;  // number of them that carried something
  double busy_us = 0;       // in an iteration, their mean
  double share = 0;         // of the run's time, for the busiest
  std::string busiest;
};

struct CostUse {
  Cost cost;
  double mean_us, least_us, most_us;  // in an iteration, over the ranks
};

struct ModelResult {
  std::string title, scheme, fidelity, grid, algorithm;  // the last two: empty where there is none
  std::uint32_t ranks = 0;
  std::int64_t n = 0;
  std::uint64_t bytes = 0;         // as docs/results.md defines it
  std::vector<double> samples_us;  // one for each iteration
  double mean_us = 0;              // over all iterations
  std::array<CostUse, costs> spent;
  double moving_us = 0;  // chains under way, for a rank and iteration
  std::vector<WireUse> wires;
  std::uint64_t events = 0;
  double seconds = 0;  // that the model itself took
};

// Throws Error{invalid_argument}, with a message of one line, for what does not exist or does not fit, and
// Error{timed_out} when ranks wait for each other for ever.
ModelResult run_model(const ModelOptions& options);

// Returns the machine with its numbers overridden. Throws when an override names none of its numbers.
net::Machine read_model_machine(const ModelOptions& options);

}  // namespace tca::tool
