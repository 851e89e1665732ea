// Compares the model with the published figures.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/machine/machine.hpp"
#include "scorecard/figures.hpp"

namespace tca::tool {

using Machines = std::map<std::string, net::Machine>;

// A published number and the model's.
struct Score {
  std::string source, figure, unit;
  std::string config;    // the point, such as "8 B"; empty for a figure without points
  std::string settings;  // what was run, in words
  Use use = Use::unusable;
  std::string published;       // as text: "2.015", "320 to 384", "at least 1"
  double published_value = 0;  // the number, or the nearer end of a range
  double model = 0;            // of a usable figure, or of a drawn one
  bool drawn = false;          // a point of the model's curve, for a drawing that cannot be read
  double error = 0;            // model / published - 1; 0 within a range or beyond a bound
  bool sharp = true;           // a number, rather than a range or a bound
  std::string reason;          // why it is unusable, or a note on it
};

// Returns every machine that the figures name.
Machines read_machines(const std::vector<Figure>& figures);

// Returns the scores in the order of the figures and their points. Runs are spread over the available cores.
std::vector<Score> score(const std::vector<Figure>& figures, const Machines& machines);

struct Summary {
  int numbers = 0;
  double median = 0;  // of the absolute errors of the sharp numbers
  double greatest = 0;
  int ranges = 0;
  int right = 0;      // number of ranges and bounds that the model keeps to
  int beyond_30 = 0;  // sharp numbers whose error exceeds 30 %
};

Summary summarise(const std::vector<Score>& scores, Use use);

// Returns the sizes at which crossings are looked for: powers of two, or multiples of 32.
std::vector<std::int64_t> sweep(const std::string& x, const std::string& run);

}  // namespace tca::tool
