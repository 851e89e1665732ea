// Wilson's equation on GPUs: as Inverter, in a world of fabric cuda, with even-odd preconditioning.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "qcd/gpu_start.hpp"
#include "qcd/inverter.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

class GpuInverter {
 public:
  // Collective. Throws Error{invalid_argument} for what is not done on GPUs, Error{out_of_memory} for a lattice that the GPU
  // does not hold. The gauge field's ghosts must be up to date (Gauge::exchange). With a peer the host or a graph must start.
  GpuInverter(World& world, const Gauge& gauge, const InverterOptions& options, Start start);
  ~GpuInverter();

  // Collective. Fields of all sites, with wilson.rhs right-hand sides, in the host's order; as Inverter::invert.
  Inversion invert(const Field<double>& source, Field<double>& x);

  // Collective. One attempt from zero, without a look at the true residual; in mixed precision with its updates.
  Timed timed(const Field<double>& source, double tolerance);

  // Collective. out = M in or M^dagger in on the even sites, in the precision of the iterations: single where it is mixed.
  void apply(const Field<double>& in, Field<double>& out, bool dagger);

  // Collective. Applies M and M^dagger in turn, by the host or a graph, to the source's even sites and returns microseconds for
  // one, the average of `count`, an even number.
  double applications_us(const Field<double>& source, int count);

  Start start() const;
  std::string reason() const;  // of the choice, or that it was asked for
  std::int64_t bytes() const;  // this rank sends in an application, for all right-hand sides
  double flops() const;        // of an application to one right-hand side, over all ranks
  std::string explain() const;

 private:
  struct Device;
  std::unique_ptr<Device> device_;
};

}  // namespace tca::qcd
