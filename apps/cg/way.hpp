// A way of running the benchmark. Several take turns on the same matrix when they are compared.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cg/exchange.hpp"
#include "cg/solver.hpp"

namespace tca::cg {

class Way {
 public:
  virtual ~Way() = default;

  // Collective. Begins the benchmark again and takes so many of its steps. Returns what the last one has
  // found, and appends the time of each step to `step_us`, or their mean where only that is known. Calls
  // `tick` with the number of steps that are over, if it is given.
  using Tick = std::function<void(int steps)>;
  virtual Step run(int steps, std::vector<double>& step_us, const Tick& tick = {}) = 0;

  // Collective. Takes so many steps more, in which each message is timed: on GPUs on the stream that the host
  // starts it on. Nothing is known of messages that a kernel sends by itself.
  virtual MessageTimes time_messages(int) { return {}; }

  virtual std::string explain(Message message) const = 0;  // how it travels, a line for each put
};

// On hosts. Both outlive the way.
std::unique_ptr<Way> host_way(World& world, Solver& solver, Exchange& exchange, Order order);

}  // namespace tca::cg
