// Replicas that exchange their temperatures, so that each gets out of the cold, where it would stay what it is, and back (K.
// Hukushima and K. Nemoto, J. Phys. Soc. Jpn. 65 (1996) 1604).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "spin/problem.hpp"

namespace tca::spin {

class Tempering {
 public:
  // Replica i begins with the i-th temperature.
  explicit Tempering(const Problem& problem);

  // Proposes that neighbouring temperatures change places, those that begin at an even number and the others in turn.
  // `energies` are by replica, of the whole lattice. Who has the same ones decides the same.
  void exchange(std::span<const double> energies);

  std::vector<double> betas() const;  // by replica
  // By temperature.
  int replica(std::size_t temperature) const { return replicas_[temperature]; }
  // Of the proposals that a temperature and the next one change places, the part that were accepted; 0 before there is one.
  double acceptance(std::size_t temperature) const;

 private:
  Problem problem_;
  std::vector<int> replicas_;  // by temperature
  std::vector<std::int64_t> proposed_, accepted_;
  std::uint32_t turn_ = 0;
};

}  // namespace tca::spin
