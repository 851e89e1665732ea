// A way of simulating, which `simulate` times: with OpenTCA or a peer, on hosts or on GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "shared/message_cost.hpp"
#include "spin/solver.hpp"

namespace tca::spin {

// Some sweeps of one kind: what they took on this rank, in microseconds, and the state that they have left.
struct Phase {
  double total_us = 0;
  double compute_us = 0;        // of that; 0 where it is not known
  std::vector<double> halo_us;  // of each message, where the host sends them
  Measurement state;
};

class Way {
 public:
  virtual ~Way() = default;

  // Collective.
  virtual Phase run(Update update, int sweeps) = 0;
  // Of a sweep, where `run` does not tell what its messages take. Collective; leaves the spins as they are.
  virtual std::vector<apps::MessageCost> time_messages() { return {}; }

  // Sets the inverse temperatures by replica, for all ways of the lattice.
  virtual void set_betas(std::span<const double> betas) = 0;
  virtual std::int64_t bytes() const = 0;  // this rank's puts or messages of one colour
};

// Solver and exchange outlive the way. Ways of one lattice have the solver in common.
template <class Real>
std::unique_ptr<Way> host_way(Solver<Real>& solver, Exchange& exchange, bool overlap);

}  // namespace tca::spin
