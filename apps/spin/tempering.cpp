#include "spin/tempering.hpp"

#include <numeric>
#include <utility>

#include "spin/draws.hpp"
#include "spin/elementary.hpp"

namespace tca::spin {

Tempering::Tempering(const Problem& problem)
    : problem_(problem),
      replicas_(problem.temperatures.size()),
      proposed_(problem.temperatures.size()),
      accepted_(problem.temperatures.size()) {
  std::iota(replicas_.begin(), replicas_.end(), 0);
}

void Tempering::exchange(std::span<const double> energies) {
  const std::vector<double>& t = problem_.temperatures;
  for (std::size_t cold = turn_ % 2; cold + 1 < t.size(); cold += 2) {
    int &in_cold = replicas_[cold], &in_hot = replicas_[cold + 1];
    const double gain = (1 / t[cold] - 1 / t[cold + 1]) * (energies[static_cast<std::size_t>(in_cold)] -
                                                           energies[static_cast<std::size_t>(in_hot)]);
    const double drawn = draw(problem_.seed, Purpose::tempering, cold, 0, turn_).first;
    ++proposed_[cold];
    if (gain < 0 && drawn >= exact_exp(gain)) continue;
    ++accepted_[cold];
    std::swap(in_cold, in_hot);
  }
  ++turn_;
}

std::vector<double> Tempering::betas() const {
  std::vector<double> betas(replicas_.size());
  for (std::size_t i = 0; i < replicas_.size(); ++i)
    betas[static_cast<std::size_t>(replicas_[i])] = 1 / problem_.temperatures[i];
  return betas;
}

double Tempering::acceptance(std::size_t temperature) const {
  const std::int64_t proposed = proposed_[temperature];
  return proposed > 0 ? static_cast<double>(accepted_[temperature]) / static_cast<double>(proposed) : 0;
}

}  // namespace tca::spin
