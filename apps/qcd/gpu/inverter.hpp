// GpuInverter solves Wilson's equation on GPUs, like Inverter, in a world of fabric cuda and with even-odd
// preconditioning.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "qcd/gpu/start.hpp"
#include "qcd/solver/inverter.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

class GpuInverter {
 public:
  // Collective. Throws Error{invalid_argument} for what GPUs do not support, and Error{out_of_memory} if the
  // GPU cannot hold the lattice. The gauge field's ghosts must be up to date (Gauge::exchange). With a peer,
  // `start` must be the host or a graph.
  GpuInverter(World& world, const Gauge& gauge, const InverterOptions& options, Start start);
  ~GpuInverter();

  // Collective. Does what Inverter::invert does. The fields are those of all sites, in the host's order, with
  // wilson.rhs right-hand sides.
  Inversion invert(const Field<double>& source, Field<double>& x);

  // Collective. Times one attempt from zero, without computing the true residual. In mixed precision it
  // includes the updates.
  Timed timed(const Field<double>& source, double tolerance);

  // Collective. Computes out = M in or M^dagger in on the even sites, in the precision of the iterations:
  // single for mixed precision.
  void apply(const Field<double>& in, Field<double>& out, bool dagger);

  // Collective. Applies M and M^dagger in turn to the source's even sites, started by the host or a graph.
  // Returns the microseconds of one application, averaged over `count`, an even number.
  double applications_us(const Field<double>& source, int count);

  Start start() const;
  std::string reason() const;  // why this start was chosen, or that it was asked for
  std::int64_t bytes() const;  // what this rank sends in an application, for all right-hand sides
  double flops() const;        // of an application to one right-hand side, over all ranks
  std::string explain() const;

 private:
  struct Device;
  std::unique_ptr<Device> device_;
};

}  // namespace tca::qcd
