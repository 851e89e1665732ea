// The options of `tca qcd`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "qcd/cli/balance.hpp"
#include "qcd/lattice.hpp"
#include "qcd/solver/inverter.hpp"
#include "shared/cli/job.hpp"
#include "tca/grid.hpp"

namespace tca::tool {

struct QcdOptions : AppJob {
  std::string action;  // generate, invert, dslash, plaquette or pion; or balance
  std::string lattice = "8";
  bool small = false;
  bool large = false;
  std::string grid = "auto";
  std::string config;
  std::string start = "hot";        // of the links: cold or hot
  std::string started_by = "auto";  // on GPUs
  std::uint64_t seed = 1;
  double beta = 6.0;
  int sweeps = 100;
  std::optional<int> skip;  // default: half of the sweeps
  int over_relax = 4;
  std::string output;
  std::string format = "nersc";
  int bits = 64;
  std::string discretisation = "wilson";
  double kappa = 0.12;
  double mass = 0.1;
  bool kappa_given = false, mass_given = false;
  std::string precision = "double";
  std::string solver = "cg";
  double tolerance = 1e-9;
  int max_iterations = 5000;
  int rhs = 1;
  bool together = false;
  int links = 18;
  std::string time = "antiperiodic";
  bool no_even_odd = false;
  double seconds = 2;
  BalanceOptions balance;
};

// Returns the names of the messages of what is to be done, on hosts.
std::vector<std::string_view> qcd_messages(const QcdOptions& options);

// Reads "8x8x8x16", or one extent for all dimensions; refuses anything else.
qcd::Extents extents_of(const char* option, const std::string& text);

// Returns the extents of the file, if one is given, otherwise of --lattice. Throws Error{invalid_argument}
// for extents that cannot be read, and what qcd::inspect_configuration throws.
qcd::Extents qcd_extents(const QcdOptions& options);

// Throws Error{invalid_argument} for a grid that cannot be read, does not hold the ranks or does not divide
// the lattice.
Grid make_qcd_grid(const QcdOptions& options, const qcd::Extents& extents, int ranks);

inline bool is_staggered(const QcdOptions& options) { return options.discretisation == "staggered"; }

qcd::InverterOptions inverter_options(const QcdOptions& options);

}  // namespace tca::tool
