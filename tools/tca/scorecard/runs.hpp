// The runs that figures may name, and the settings of each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine.hpp"
#include "scorecard/figures.hpp"

namespace tca::tool {

// A run by one scheme. Settings other than these would be silently ignored, so they are refused. `machine`
// and `scheme` belong to every run.
struct RunKind {
  std::string_view name, scheme;
  double (*call)(const net::Machine&, const RunSettings&);
  std::vector<std::string_view> needs;    // required settings
  std::vector<std::string_view> further;  // optional ones

  bool takes(std::string_view setting) const;
};

// Returns all kinds; those of the same name are side by side.
std::span<const RunKind> run_kinds();

// Returns null when there is none.
const RunKind* find_run(std::string_view name, std::string_view scheme);

// Returns the time of a run in us, or GB/s when the settings ask for a rate. Throws Error{invalid_argument}
// for a run that does not exist.
double run(const std::string& name, const net::Machine& machine, const RunSettings& settings);

}  // namespace tca::tool
