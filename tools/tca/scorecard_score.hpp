// The model beside the published figures.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "net/machine.hpp"
#include "scorecard_figures.hpp"

namespace tca::tool {

using Machines = std::map<std::string, net::Machine>;

// One published number and the model's.
struct Score {
  std::string source, figure, unit;
  std::string config;    // the point, "8 B"; empty for a figure without points
  std::string settings;  // what was run, in words
  Use use = Use::unusable;
  std::string published;       // as text: "2.015", "320 to 384", "at least 1"
  double published_value = 0;  // the number, or the nearer end of a range
  double model = 0;            // of a usable one, or of one that is
  bool drawn = false;          // a point of the model's curve, beside a drawing that cannot be read
  double error = 0;            // model / published - 1; 0 within a range or beyond a bound
  bool sharp = true;           // a number, rather than a range or a bound
  std::string reason;          // why it is unusable, or what should be known of it
};

// Every machine that the figures name; one that is `known` already, by its name there, stays as it is.
Machines read_machines(const std::vector<Figure>& figures, Machines known = {});

// In the order of the figures and their points; runs side by side on the cores that there are.
std::vector<Score> score(const std::vector<Figure>& figures, const Machines& machines);

struct Summary {
  int numbers = 0;
  double median = 0;  // of the errors' sizes, of sharp ones
  double greatest = 0;
  int ranges = 0;
  int right = 0;      // of the ranges and bounds
  int beyond_30 = 0;  // of the sharp ones, by more than 30 %
};

Summary summarise(const std::vector<Score>& scores, Use use);

// The sizes at which crossings are looked for: powers of two, or multiples of 32.
std::vector<std::int64_t> sweep(const std::string& x, const std::string& run);

}  // namespace tca::tool
