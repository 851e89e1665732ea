#include "qcd/solver/inverter.hpp"

#include <fmt/format.h>

#include <cmath>

#include "tca/error.hpp"

namespace tca::qcd {
namespace {

// The smallest tolerance that a solve in single precision alone can reach on lattices of useful size.
constexpr double least_in_single = 1e-6;

WilsonOptions unpreconditioned(WilsonOptions options) {
  options.even_odd = false;
  return options;
}

void add(const Solution& first, Solution& last) {
  last.iterations += first.iterations;
  last.updates += first.updates;
  last.history.insert(last.history.begin(), first.history.begin(), first.history.end());
  last.iteration_us.insert(last.iteration_us.begin(), first.iteration_us.begin(), first.iteration_us.end());
  last.each.insert(last.each.begin(), first.each.begin(), first.each.end());
}

template <class T>
Solution solve(Method method, Operator<T>& d, Sums& sums, const Field<T>& b, Field<T>& x,
               const SolveOptions& options) {
  return method == Method::cg ? solve_cg(d, sums, b, x, options) : solve_bicgstab(d, sums, b, x, options);
}

}  // namespace

// Every sum is padded to the most numbers that one has for each right-hand side.
int numbers_in_a_sum(const InverterOptions& options) {
  const int of_each = options.method == Method::cg ? 2 : 10;
  return of_each * (options.staggered ? options.staggered->rhs : options.wilson.rhs);
}

void check(const InverterOptions& options) {
  if (options.staggered && options.method == Method::bicgstab)
    throw Error(Errc::invalid_argument, "the staggered operator goes with CG; BiCGStab is for Wilson's");
  if (options.staggered && options.wilson.peer != nullptr)
    throw Error(Errc::invalid_argument, "a peer carries Wilson's halo, not the staggered operator's");
  if (options.precision == Precision::mixed && options.method == Method::bicgstab)
    throw Error(Errc::invalid_argument, "mixed precision goes with CG; BiCGStab runs in single or double");
  if (options.precision == Precision::single_only && options.solve.tolerance < least_in_single) {
    throw Error(Errc::invalid_argument,
                fmt::format("a tolerance of {:.0e} is below what single precision holds ({:.0e}); ask for "
                            "mixed precision, or for less",
                            options.solve.tolerance, least_in_single));
  }
}

template <class T>
std::unique_ptr<Operator<T>> operator_of(World& world, const Gauge& gauge, const InverterOptions& options) {
  if (options.staggered) return std::make_unique<Staggered<T>>(world, gauge, *options.staggered);
  return std::make_unique<Wilson<T>>(world, gauge, options.wilson);
}
template std::unique_ptr<Operator<float>> operator_of(World&, const Gauge&, const InverterOptions&);
template std::unique_ptr<Operator<double>> operator_of(World&, const Gauge&, const InverterOptions&);

Inverter::Inverter(World& world, const Gauge& gauge, const InverterOptions& options)
    : options_(options), sums_(world, numbers_in_a_sum(options), options.wilson.peer, options.sums_channel) {
  check(options);
  if (!options.staggered)
    whole_ = std::make_unique<Wilson<double>>(world, gauge, unpreconditioned(options.wilson));
  double_ = operator_of<double>(world, gauge, options);
  preconditioned_ = dynamic_cast<Wilson<double>*>(double_.get());
  if (options.precision != Precision::double_only) single_ = operator_of<float>(world, gauge, options);
}

Shape Inverter::shape() const { return whole_ ? whole_->shape() : double_->shape(); }

std::int64_t Inverter::bytes() const { return 2 * (single_ ? single_->bytes() : double_->bytes()); }

std::string Inverter::explain() const { return single_ ? single_->explain() : double_->explain(); }

Solution Inverter::attempt(const Field<double>& source, Field<double>& x, const SolveOptions& options) {
  if (options_.precision == Precision::mixed)
    return solve_cg_mixed(*double_, *single_, sums_, source, x, options);
  if (options_.precision == Precision::double_only)
    return solve(options_.method, *double_, sums_, source, x, options);
  Field<float> b(source.size()), y(x.size());
  convert(source, b);
  convert(x, y);
  Solution solution = solve(options_.method, *single_, sums_, b, y, options);
  convert(y, x);
  return solution;
}

Inversion attempt_until_true(const SolveOptions& asked,
                             const std::function<Solution(const SolveOptions& aim)>& attempt,
                             const std::function<Numbers()>& finish) {
  constexpr int attempts = 4;
  SolveOptions aim = asked;
  Inversion inversion;
  for (int n = 0; n < attempts; ++n) {
    Solution solution = attempt(aim);
    add(inversion.solution, solution);
    inversion.solution = std::move(solution);
    inversion.true_residuals = finish();
    const double reached = largest(inversion.true_residuals);
    if (!inversion.solution.converged || !std::isfinite(reached) || reached <= asked.tolerance) break;
    // The residual of the preconditioned equation is relative to another right-hand side, so the two
    // residuals differ.
    aim.tolerance *= 0.5 * asked.tolerance / reached;
    aim.max_iterations = asked.max_iterations - inversion.solution.iterations;
  }
  inversion.solution.converged = largest(inversion.true_residuals) <= asked.tolerance;
  return inversion;
}

Inversion Inverter::invert(const Field<double>& source, Field<double>& x) {
  World& world = double_->world();
  const auto begin = world.now();
  Field<double> prepared = source, part(double_->shape().size(), 0);
  if (preconditioned_ != nullptr) preconditioned_->prepare(source, prepared);
  Inversion inversion = attempt_until_true(
      options_.solve, [&](const SolveOptions& aim) { return attempt(prepared, part, aim); },
      [&] {
        if (preconditioned_ == nullptr) {
          x = part;
          return true_residuals(*double_, sums_, source, x);
        }
        preconditioned_->reconstruct(source, part, x);
        return true_residuals(*whole_, sums_, source, x);
      });
  inversion.seconds = (world.now() - begin).count();
  inversion.flops =
      2.0 * inversion.solution.iterations * double_->flops() * static_cast<double>(double_->shape().rhs);
  return inversion;
}

}  // namespace tca::qcd
