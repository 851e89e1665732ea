// Runs the points of a `tca model` sweep side by side, each in a process of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tca::tool {

struct Sweep {
  std::string name;
  std::vector<std::string> values;
};

// Reads "bytes=64,4096", or "ranks=2:64" for doubling from 2 to 64. Throws Error{invalid_argument}.
Sweep parse_sweep(const std::string& text);

struct SweepPoint {
  std::string answer;  // what `work` returned
  std::string error;   // what it threw instead
  int exit_code = 0;
};

// Runs `work` in `jobs` processes at a time; its answers come in the order of the points. Returns 0, or 128 +
// signal when this process was interrupted, and then `points` are incomplete. No process is left in either
// case.
int run_points(const std::string& label, std::size_t count, int jobs,
               const std::function<std::string(std::size_t)>& work, std::vector<SweepPoint>& points);

}  // namespace tca::tool
