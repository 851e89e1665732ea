// What a message of an application's step costs, over some steps that are timed message by message after the
// benchmark's own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "tca/world.hpp"

namespace tca::apps {

// Times are in microseconds, of the rank that the message took longest each time.
struct MessageCost {
  std::string_view name;
  double count = 0;        // in a step
  std::int64_t bytes = 0;  // that a rank sends in it, at most
  double us = 0;           // the median
  double p99_us = 0;
  // What of the median that rank waited for the last one to come: what it took longer than the rank that it
  // took shortest.
  double waiting_us = 0;
};

// Collective. `times` has a value for each time that the message was sent, on all ranks equally many, and
// `steps` is in how many steps that was.
MessageCost cost_of(World& world, std::string_view name, std::int64_t bytes, const std::vector<double>& times,
                    double steps);

}  // namespace tca::apps
