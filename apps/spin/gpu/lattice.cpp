#include "spin/gpu/lattice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tca/error.hpp"

namespace tca::spin {

using namespace apps;

namespace {

void add(Cells& cells, const Box& box, int replicas) {
  if (box.empty()) return;
  Cells::Numbered& in = cells.boxes[cells.count++];
  const Extents size = box.size();
  for (std::size_t d = 0; d < 3; ++d) in.begin[d] = static_cast<Word>(box.begin[d]);
  in.row = Divisor::of(static_cast<Word>(size[2]));
  in.plane = Divisor::of(static_cast<Word>(size[1] * size[2]));
  in.box = Divisor::of(static_cast<Word>(size[0] * size[1] * size[2]));
  cells.all += in.box.value * static_cast<Word>(replicas);
  in.end = cells.all;
}

Cells cells_of(const Share& share, bool overlap) {
  const int replicas = share.problem().replicas;
  Cells cells;
  if (overlap) {
    for (const Box& box : share.division().shell) add(cells, box, replicas);
    cells.shell = cells.all;
    add(cells, share.division().core, replicas);
  } else {
    add(cells, share.whole(), replicas);
    cells.shell = cells.all;
  }
  return cells;
}

void check_size(const Share& share, int rank) {
  if (share.elements() * share.problem().replicas > std::numeric_limits<std::int32_t>::max())
    throw Error(
        Errc::invalid_argument,
        fmt::format("rank {} would have {} cells of a colour in {} replicas, more than 2^31 with their "
                    "ghosts; take more ranks",
                    rank, describe(share.cells()), share.problem().replicas));
}

template <class Real>
Sites<Real> sites_of(const Share& share) {
  const Problem& problem = share.problem();
  Sites<Real> sites{};
  sites.elements = static_cast<std::size_t>(share.elements());
  for (std::size_t d = 0; d < 3; ++d) {
    sites.cells[d] = static_cast<Word>(share.cells()[d]);
    sites.first[d] = static_cast<Word>(share.first()[d]);
    sites.extents[d] = static_cast<Word>(problem.extents[d]);
    sites.cut[d] = share.is_cut(d) ? 1 : 0;
  }
  sites.pitch[2] = 1;
  sites.pitch[1] = sites.cells[2] + 2;
  sites.pitch[0] = sites.pitch[1] * (sites.cells[1] + 2);
  sites.replicas = static_cast<Word>(problem.replicas);
  std::ranges::fill(sites.beta, problem.beta);
  sites.seed = problem.seed;
  return sites;
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
