// Solves the equation D x = b of Wilson's or the staggered operator on the whole lattice, and says how well: preconditioning,
// precision and method are chosen, the true residual is always that of the whole, unpreconditioned equation in double precision.
#pragma once

#include <memory>
#include <optional>

#include "qcd/solver.hpp"
#include "qcd/staggered.hpp"
#include "qcd/wilson.hpp"

namespace tca::qcd {

enum class Method { cg, bicgstab };
enum class Precision { single_only, double_only, mixed };

struct InverterOptions {
  WilsonOptions wilson = {};
  std::optional<StaggeredOptions> staggered = {};  // in place of Wilson's operator
  Method method = Method::cg;
  Precision precision = Precision::double_only;
  SolveOptions solve = {};
};

// Throws Error{invalid_argument} for a combination that there is not: mixed precision with BiCGStab, a staggered operator with
// BiCGStab or a peer, or a tolerance below what single precision holds.
void check(const InverterOptions& options);

// Collective. The operator that is asked for, as the iterations need it.
template <class T>
std::unique_ptr<Operator<T>> operator_of(World& world, const Gauge& gauge, const InverterOptions& options);

struct Inversion {
  Solution solution;       // of the last attempt; iterations, samples and times are of all of them
  Numbers true_residuals;  // |b - D x| / |b|
  double seconds = 0;
  double flops = 0;  // of the operator in the iterations, all right-hand sides, all ranks
};

// Solves with `attempt` until the true residual that `finish` computes is as small as asked for, each time from where it stands
// and with a stricter aim. Collective, as far as these are.
Inversion attempt_until_true(const SolveOptions& asked,
                             const std::function<Solution(const SolveOptions& aim)>& attempt,
                             const std::function<Numbers()>& finish);

class Inverter {
 public:
  // Collective. Throws as check.
  Inverter(World& world, const Gauge& gauge, const InverterOptions& options);

  // Collective. Fields of all sites, with the operator's right-hand sides. Starts again, from where it stands and with a
  // stricter aim, where the true residual is larger than asked for.
  Inversion invert(const Field<double>& source, Field<double>& x);

  Shape shape() const;
  std::int64_t bytes() const;  // this rank sends in an iteration
  std::string explain() const;

 private:
  Solution attempt(const Field<double>& source, Field<double>& x, const SolveOptions& options);

  InverterOptions options_;
  Sums sums_;
  std::unique_ptr<Operator<double>> whole_;   // for the true residual
  std::unique_ptr<Operator<double>> double_;  // both as the method needs them
  std::unique_ptr<Operator<float>> single_;
  Wilson<double>* preconditioned_ = nullptr;  // double_, if that wants the equation prepared
};

}  // namespace tca::qcd
