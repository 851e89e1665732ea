#include "spin/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "spin/draws.hpp"
#include "spin/elementary.hpp"
#include "tca/error.hpp"

namespace tca::spin {

std::int64_t Problem::site(Extents at) const {
  for (std::size_t d = 0; d < 3; ++d) at[d] = (at[d] + extents[d]) % extents[d];
  return (at[0] * extents[1] + at[1]) * extents[2] + at[2];
}

// Box and Muller's two numbers from two uniform ones: a site's bonds need three.
double Problem::coupling(const Extents& at, std::size_t dim) const {
  if (couplings == Couplings::rings) return dim == 2 ? 1 : 0;
  const Uniforms u = draw(seed, Purpose::couplings, static_cast<std::uint64_t>(site(at)), 0,
                          static_cast<std::uint32_t>(dim / 2));
  const double length = std::sqrt(-2 * exact_log(1 - u.first));
  const Turned turned = exact_turn(u.second);
  return length * (dim % 2 == 0 ? turned.cosine : turned.sine);
}

void check(const Problem& problem) {
  const auto refuse = [](const std::string& why) { throw Error(Errc::invalid_argument, why); };
  for (const std::int64_t extent : problem.extents)
    if (extent < 2 || extent % 2 != 0)
      refuse(fmt::format(
          "extent {}: sites are updated in two colours, like those of a chessboard, which needs even extents "
          "of 2 or more",
          describe(problem.extents)));
  if (!(problem.beta > 0 && problem.beta < 1e6))
    refuse(fmt::format("beta {}: the inverse temperature is above 0 and below 1e6", problem.beta));
  for (std::size_t i = 0; i < problem.temperatures.size(); ++i) {
    const double before = i > 0 ? problem.temperatures[i - 1] : 0;
    if (!(problem.temperatures[i] > before && problem.temperatures[i] > 1e-6))
      refuse(fmt::format("temperatures {}: each is above 0 and above the one before",
                         fmt::join(problem.temperatures, ",")));
  }
  if (problem.replicas < 1 || problem.replicas > most_replicas)
    refuse(fmt::format("{} replicas: from 1 to {}", problem.replicas, most_replicas));
}

std::vector<double> first_betas(const Problem& problem) {
  std::vector<double> betas(static_cast<std::size_t>(problem.replicas), problem.beta);
  for (std::size_t i = 0; i < problem.temperatures.size(); ++i) betas[i] = 1 / problem.temperatures[i];
  return betas;
}

std::string describe(const Extents& extents) {
  return fmt::format("{}x{}x{}", extents[0], extents[1], extents[2]);
}

double energy_of_rings(double beta) { return 1 / beta - 1 / std::tanh(beta); }

}  // namespace tca::spin
