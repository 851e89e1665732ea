#include "spin/cli/physics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tca::tool {
namespace {

// How far over-relaxation may change the energy of a site, and the length of a spin: a sweep rounds some ten times, and
// a round has tens of sweeps.
double tolerance(const SpinReport& report) { return report.in_double ? 1e-12 : 1e-4; }

// A mean is held against what is known only where it has an error, and beyond what chance explains.
constexpr double errors_allowed = 6;

void print_temperatures(const SpinReport& report) {
  const bool is_exact = report.problem.couplings == spin::Couplings::rings;
  fmt::print("{:<10}{:>14}{:>18}{:>12}{}\n", "", "temperature", "energy a site", "+-",
             is_exact ? fmt::format("{:>12}", "exact") : "");
  const std::vector<spin::AtTemperature>& all = report.run.physics.temperatures;
  for (std::size_t i = 0; i < all.size(); ++i) {
    fmt::print("{:<10}{:>14g}{:>18.5f}{:>12.5f}", "", all[i].temperature, all[i].energy.value,
               all[i].energy.error);
    if (is_exact) fmt::print("{:>12.5f}", spin::energy_of_rings(1 / all[i].temperature));
    if (i + 1 < all.size())
      fmt::print("   changes place with the next in {:.0f} % of tries", 100 * all[i].acceptance);
    fmt::print("\n");
  }
}

// Rings of a temperature have an energy that is known.
std::string fault_of_ring(double beta, const spin::Mean& energy) {
  const double exact = spin::energy_of_rings(beta);
  if (energy.error == 0 || std::abs(energy.value - exact) <= errors_allowed * energy.error) return "";
  return fmt::format("the energy of a site is {:.5f} +- {:.5f}, where {:.5f} is exact", energy.value,
                     energy.error, exact);
}

// It is warmer where there is more energy, whichever replicas have been there.
std::string fault_of_temperatures(const SpinReport& report) {
  const std::vector<spin::AtTemperature>& all = report.run.physics.temperatures;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [temperature, energy, energies, acceptance] = all[i];
    if (report.problem.couplings == spin::Couplings::rings)
      if (const std::string fault = fault_of_ring(1 / temperature, energy); !fault.empty())
        return fmt::format("at temperature {:g} {}", temperature, fault);
    if (i + 1 == all.size()) break;
    const spin::Mean& next = all[i + 1].energy;
    if (energy.error > 0 && energy.value - next.value > errors_allowed * std::hypot(energy.error, next.error))
      return fmt::format(
          "the energy of a site is {:.5f} at temperature {:g} and {:.5f} at {:g}, which is warmer",
          energy.value, temperature, next.value, all[i + 1].temperature);
  }
  return "";
}

// At most some hundred of them, evenly spread; `rounds` says how many there were.
nlohmann::ordered_json thinned(const std::vector<double>& energies) {
  constexpr std::size_t most = 200;
  auto some = nlohmann::ordered_json::array();
  const std::size_t count = std::min(most, energies.size());
  for (std::size_t i = 0; i < count; ++i)
    some.push_back(rounded(energies[energies.size() * (i + 1) / count - 1]));
  return some;
}

nlohmann::ordered_json json_of_temperatures(const SpinReport& report) {
  auto all = nlohmann::ordered_json::array();
  for (const auto& [temperature, energy, energies, acceptance] : report.run.physics.temperatures) {
    all.push_back({{"temperature", temperature},
                   {"energy", energy.value},
                   {"energy_error", rounded(energy.error)},
                   {"acceptance", rounded(acceptance)},
                   {"energies", thinned(energies)}});
    if (report.problem.couplings == spin::Couplings::rings)
      all.back()["exact"] = spin::energy_of_rings(1 / temperature);
  }
  return all;
}

}  // namespace

std::string describe_temperatures(const spin::Problem& problem) {
  const std::vector<double>& all = problem.temperatures;
  return all.empty() ? fmt::format("beta {:g}", problem.beta)
                     : fmt::format("temperatures {:g} to {:g}", all.front(), all.back());
}

void print_physics(const SpinReport& report) {
  const spin::Physics& physics = report.run.physics;
  if (!physics.temperatures.empty()) return print_temperatures(report);
  fmt::print("energy    {:.5f}{} a site", physics.energy.value,
             physics.energy.error > 0 ? fmt::format(" +- {:.5f}", physics.energy.error) : "");
  if (report.problem.couplings == spin::Couplings::rings)
    fmt::print("; {:.5f} is exact", spin::energy_of_rings(report.problem.beta));
  else if (report.problem.replicas > 1)
    fmt::print("; by the replicas' overlaps {:.5f}, which it nears as they reach equilibrium",
               physics.energy_by_overlaps(report.problem.beta));
  fmt::print("\n");
}

std::string SpinReport::fault() const {
  const spin::Physics& physics = run.physics;
  if (!(physics.drift <= tolerance(*this)))
    return fmt::format("over-relaxation has changed the energy of a site by {:.1e}, more than {:.0e}",
                       physics.drift, tolerance(*this));
  if (!(physics.off_unit <= tolerance(*this)))
    return fmt::format("a spin's length is off by {:.1e}, more than {:.0e}", physics.off_unit / 2,
                       tolerance(*this) / 2);
  if (!physics.temperatures.empty()) return fault_of_temperatures(*this);
  return problem.couplings == spin::Couplings::rings ? fault_of_ring(problem.beta, physics.energy) : "";
}

void add_physics(const SpinReport& report, Record& record) {
  const spin::Physics& physics = report.run.physics;
  if (physics.temperatures.empty()) {
    record.extra["beta"] = report.problem.beta;
    record.extra["energies"] = thinned(physics.energies);
    if (report.problem.couplings == spin::Couplings::rings)
      record.extra["exact"] = spin::energy_of_rings(report.problem.beta);
    else if (report.problem.replicas > 1)
      record.extra["energy_by_overlaps"] = physics.energy_by_overlaps(report.problem.beta);
  } else {
    record.extra["temperatures"] = json_of_temperatures(report);
  }
}

}  // namespace tca::tool
