// Inverter solves D x = b for Wilson's or the staggered operator on the whole lattice, and reports how well.
// Preconditioning, precision and method can be chosen. The true residual is always that of the whole,
// unpreconditioned equation in double precision.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "qcd/operators/staggered.hpp"
#include "qcd/operators/wilson.hpp"
#include "qcd/solver/solver.hpp"

namespace tca::qcd {

enum class Method { cg, bicgstab };
enum class Precision { single_only, double_only, mixed };

struct InverterOptions {
  WilsonOptions wilson = {};
  std::optional<StaggeredOptions> staggered = {};  // instead of Wilson's operator
  Method method = Method::cg;
  Precision precision = Precision::double_only;
  SolveOptions solve = {};
  std::string sums_channel = {};  // forced for the sums over all ranks, on hosts
};

// Throws Error{invalid_argument} for an unsupported combination: mixed precision with BiCGStab, a staggered
// operator with BiCGStab or with a peer, or a tolerance that single precision cannot reach.
void check(const InverterOptions& options);

// Collective. Returns the chosen operator, in the form that the iterations need.
template <class T>
std::unique_ptr<Operator<T>> operator_of(World& world, const Gauge& gauge, const InverterOptions& options);

// Returns how many doubles a sum over all ranks has.
int numbers_in_a_sum(const InverterOptions& options);

struct Inversion {
  Solution solution;       // of the last attempt; iterations, samples and times are those of all attempts
  Numbers true_residuals;  // |b - D x| / |b|
  double seconds = 0;
  double flops = 0;  // of the operator in the iterations, over all right-hand sides and ranks
};

// Calls `attempt` until the true residual, which `finish` computes, is as small as asked for. Each attempt
// continues from the solution so far, with a stricter aim. Collective if `attempt` and `finish` are.
Inversion attempt_until_true(const SolveOptions& asked,
                             const std::function<Solution(const SolveOptions& aim)>& attempt,
                             const std::function<Numbers()>& finish);

class Inverter {
 public:
  // Collective. Throws what check throws.
  Inverter(World& world, const Gauge& gauge, const InverterOptions& options);

  // Collective. The fields are those of all sites, with the operator's right-hand sides. If the true residual
  // is larger than asked for, the solve is started again from the solution so far, with a stricter aim.
  Inversion invert(const Field<double>& source, Field<double>& x);

  Shape shape() const;
  std::int64_t bytes() const;   // what this rank sends in an iteration
  std::string explain() const;  // how the halo travels
  std::string explain_sums() const { return sums_.explain(); }

 private:
  Solution attempt(const Field<double>& source, Field<double>& x, const SolveOptions& options);

  InverterOptions options_;
  Sums sums_;
  std::unique_ptr<Operator<double>> whole_;   // for the true residual
  std::unique_ptr<Operator<double>> double_;  // this one and the next as the method needs them
  std::unique_ptr<Operator<float>> single_;
  Wilson<double>* preconditioned_ = nullptr;  // points to double_ if the equation has to be prepared for it
};

}  // namespace tca::qcd
