// The exchanges of a distributed transform, by OpenTCA and, for comparison, by MPI. Each rank has an array for every stage.
#pragma once

#include <array>
#include <complex>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fft/decomposition.hpp"
#include "fft/pipeline.hpp"
#include "shared/channels.hpp"
#include "tca/window.hpp"
#include "tca/world.hpp"

namespace tca::fft {

template <class Real>
using Arrays = std::vector<Window<std::complex<Real>>>;  // by stage

// The names of the messages: the exchanges within rows and within columns of the grid of ranks.
inline constexpr std::array<std::string_view, 2> messages{"ROW", "COLUMN"};
std::string_view message_of(const Hop& hop, const Decomposition& decomposition);

// The chains of a hop, one a batch. A rank puts into each partner's array what that has of this rank's batch: one put with a
// box of either array, which nobody packs.
class Chains {
 public:
  // Collective.
  template <class Real>
  Chains(World& world, const Decomposition& decomposition, const Arrays<Real>& arrays, const Hop& hop,
         const std::string& channel);

  Chain& operator[](int batch) { return chains_[static_cast<std::size_t>(batch)]; }
  std::string explain() const;

 private:
  std::unique_ptr<World> group_;  // where not all ranks take part
  std::vector<Chain> chains_;
};

// Collective.
template <class Real>
std::unique_ptr<Transposition> direct_transposition(World& world, const Decomposition& decomposition,
                                                    const Arrays<Real>& arrays, const Hop& hop,
                                                    const apps::Channels& channels);

}  // namespace tca::fft
