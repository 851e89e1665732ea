// Operator is what a solver needs from a discretised Dirac operator.
#pragma once

#include <cstdint>
#include <string>

#include "qcd/field.hpp"
#include "qcd/lattice.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

// How this rank has spent its time, in microseconds, since the last reset.
struct Times {
  double operator_us = 0;  // projecting faces, interior and boundary
  double wait_us = 0;      // for the halo, including its start
  double sums_us = 0;      // for sums over all ranks
};

// The time of this rank's clock, in microseconds.
inline double now_us(const World& world) { return world.now().count() * 1e6; }

template <class T>
class Operator {
 public:
  virtual ~Operator() = default;

  // Collective: out = D in, or D^dagger in. Both have the operator's shape and are different fields.
  virtual void apply(const Field<T>& in, Field<T>& out, bool dagger) = 0;

  virtual World& world() = 0;
  virtual Shape shape() const = 0;
  virtual Sites sites() const = 0;   // on which its fields live
  virtual double flops() const = 0;  // of one application to one right-hand side, over all ranks
  // What this rank sends in one application, for all right-hand sides.
  virtual std::int64_t bytes() const = 0;
  virtual std::string explain() const = 0;  // how the halo travels
  virtual Times& times() = 0;
};

}  // namespace tca::qcd
