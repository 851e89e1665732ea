// Wilson's Dirac operator, D = 1 - kappa H with the hopping term H, and its even-odd preconditioned form on
// the even sites, 1 - kappa^2 H_eo H_oe.
#pragma once

#include "qcd/operators/wilson_hop.hpp"

namespace tca::qcd {

// Acts on all sites, or with even-odd preconditioning on the even ones.
template <class T>
class Wilson : public Operator<T> {
 public:
  // Collective.
  Wilson(World& world, const Gauge& gauge, const WilsonOptions& options);

  void apply(const Field<T>& in, Field<T>& out, bool dagger) override;
  Shape shape() const override;
  Sites sites() const override { return options_.even_odd ? Sites::even : Sites::all; }
  World& world() override { return hop_.world(); }
  double flops() const override;
  std::int64_t bytes() const override;
  std::string explain() const override { return hop_.explain(); }
  Times& times() override { return hop_.times(); }

  // With even-odd preconditioning, `prepare` computes the right-hand side of the preconditioned system, b_e +
  // kappa H_eo b_o, and `reconstruct` the whole solution, with x_o = b_o + kappa H_oe x_e. Without it both
  // copy. Fields called `whole` have all sites.
  void prepare(const Field<T>& whole_source, Field<T>& source);
  void reconstruct(const Field<T>& whole_source, const Field<T>& solution, Field<T>& whole_solution);

  Shape whole_shape() const;

 private:
  WilsonOptions options_;
  WilsonHop<T> hop_;
  Field<T> odd_;  // result of the first of the two hops
};

}  // namespace tca::qcd
