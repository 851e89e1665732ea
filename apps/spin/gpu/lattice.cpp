#include "spin/gpu/lattice.hpp"

#include <fmt/format.h>

#include <limits>

#include "tca/error.hpp"

namespace tca::spin {

using namespace apps;

namespace {

void check_size(const Share& share, int rank) {
  if (share.elements() * share.problem().replicas > std::numeric_limits<std::int32_t>::max())
    throw Error(
        Errc::invalid_argument,
        fmt::format("rank {} would have {} cells of a colour in {} replicas, more than 2^31 with their "
                    "ghosts; take more ranks",
                    rank, describe(share.cells()), share.problem().replicas));
}

}  // namespace

template <class Real>
GpuLattice<Real>::GpuLattice(World& world, const Problem& problem, const Grid& grid, bool overlap)
    : share_(problem, grid, world.rank()),
      spins_{world.window<Real>(share_.elements() * share_.fields(), "even spins"),
             world.window<Real>(share_.elements() * share_.fields(), "odd spins")} {
  check_size(share_, world.rank());
  sites_ = sites_of<Real>(share_);
  cells_ = cells_of(share_, overlap);
  for (const std::size_t colour : {0U, 1U}) {
    spins_[colour].write(0, share_.first_spins<Real>(static_cast<int>(colour)));
    sites_.spins[colour] = spins_[colour].data();
    for (std::size_t d = 0; d < 3; ++d)
      sites_.couplings[colour][d] =
          couplings_[colour][d].emplace(share_.couplings<Real>(static_cast<int>(colour), d)).data();
  }
  world.barrier();  // nobody sends into spins that are still being written
}

template class GpuLattice<float>;
template class GpuLattice<double>;

}  // namespace tca::spin
