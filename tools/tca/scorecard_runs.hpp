// The runs that figures may name, and what settings each has.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/machine.hpp"
#include "scorecard_figures.hpp"

namespace tca::tool {

// A run by one scheme. Another setting than these would be left aside without a word, and is refused; `machine` and `scheme`
// are every run's.
struct RunKind {
  std::string_view name, scheme;
  double (*call)(const net::Machine&, const RunSettings&);
  std::vector<std::string_view> needs;    // without which there is nothing to run
  std::vector<std::string_view> further;  // that it takes besides

  bool takes(std::string_view setting) const;
};

// All of them, those of one name side by side.
std::span<const RunKind> run_kinds();

// Null where there is none.
const RunKind* find_run(std::string_view name, std::string_view scheme);

// What a run of the figures' name takes, in us, or GB/s where the settings ask for a rate. Throws
// Error{invalid_argument} for a run that there is not.
double run(const std::string& name, const net::Machine& machine, const RunSettings& settings);

}  // namespace tca::tool
