// Runs what kernels do on a host, rank after rank, and compares the spins with those of one rank: where cells and their
// neighbours lie, and that what crosses between ranks needs no guard.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "spin/exchange.hpp"
#include "spin/gpu/sites.hpp"
#include "spin/lattice.hpp"
#include "spin/share.hpp"
#include "spin/solver.hpp"
#include "tca/world.hpp"

namespace tca::spin {
namespace {

constexpr Word sweeps = 3;

// Heat baths are numbered by themselves: one after the other here.
constexpr Update kind_of(Word sweep) { return sweep < 2 ? Update::heat_bath : Update::over_relaxation; }

// What one end of a bond has sent to the other, in two buffers as produced puts have them.
struct Sent {
  Vector<float> spin;
  Word step = 0;
  bool read = true;
};

class Rank {
 public:
  Rank(const Problem& problem, const Grid& grid, int rank, bool overlap)
      : share(problem, grid, rank), cells(cells_of(share, overlap)), sites(sites_of<float>(share)) {
    for (const std::size_t colour : {0U, 1U}) {
      spins_[colour] = share.first_spins<float>(static_cast<int>(colour));
      sites.spins[colour] = spins_[colour].data();
      for (std::size_t d = 0; d < 3; ++d) {
        couplings_[colour][d] = share.couplings<float>(static_cast<int>(colour), d);
        sites.couplings[colour][d] = couplings_[colour][d].data();
      }
    }
    for (int side = 0; side < neighbours; ++side) {
      Grid::Coordinates step{};
      step[static_cast<std::size_t>(dim_of(side))] = is_next(side) ? 1 : -1;
      neighbour[side] =
          share.is_cut(static_cast<std::size_t>(dim_of(side))) ? *grid.neighbour(rank, step) : rank;
      for (auto& buffer : arrived[side])
        buffer.resize(static_cast<std::size_t>(problem.replicas) * sites.face(dim_of(side)));
    }
  }

  Share share;
  Cells cells;
  Sites<float> sites;
  std::array<int, neighbours> neighbour;
  std::array<std::array<std::vector<Sent>, 2>, neighbours> arrived;

 private:
  std::array<std::vector<float>, 2> spins_;
  std::array<std::array<std::vector<float>, 3>, 2> couplings_;
};

void half_sweep(std::vector<Rank>& ranks, Rank& mine, Word half) {
  const Word colour = half % 2;
  for (Word n = 0; n < mine.cells.all; ++n) {
    const Cell cell = mine.cells[n];
    const Word odd = mine.sites.odd(colour, cell);
    Around<float> around;
    around.load(mine.sites, colour, cell, odd);
    for (int side = 0; side < neighbours; ++side) {
      if (!mine.sites.is_ghost(cell, odd, side)) continue;
      ASSERT_LT(n, mine.cells.shell);
      if (half == 0) continue;
      Sent& sent = mine.arrived[side][half % 2][mine.sites.in_face(cell, side)];
      ASSERT_EQ(sent.step, half);
      sent.read = true;
      around.set(side, sent.spin);
    }
    float* const place = mine.sites.of_replica(colour, cell.replica) + mine.sites.index(cell);
    const Vector<float> own = load(place, mine.sites.elements);
    const Vector<float> spin =
        kind_of(half / 2) == Update::over_relaxation
            ? updated<Update::over_relaxation>(mine.sites, cell, odd, half / 2, own, around.field())
            : updated<Update::heat_bath>(mine.sites, cell, odd, half / 2, own, around.field());
    store(place, mine.sites.elements, spin);
    for (int side = 0; side < neighbours; ++side) {
      if (!mine.sites.is_ghost(cell, odd, side)) continue;
      Rank& to = ranks[static_cast<std::size_t>(mine.neighbour[side])];
      const int there = is_next(side) ? side + 1 : side - 1;
      Sent& sent = to.arrived[there][(half + 1) % 2][mine.sites.in_face(cell, side)];
      ASSERT_TRUE(sent.read) << "half-sweep " << half;
      sent = {spin, half + 1, false};
    }
  }
}

// All spins by site.
std::vector<std::vector<float>> spins_after(const Problem& problem, const std::vector<int>& shape,
                                            bool overlap) {
  const int count = shape[0] * shape[1] * shape[2];
  const Grid grid = make_grid(problem, count, shape);
  std::vector<Rank> ranks;
  ranks.reserve(static_cast<std::size_t>(count));
  for (int rank = 0; rank < count; ++rank) ranks.emplace_back(problem, grid, rank, overlap);
  for (Word half = 0; half < 2 * sweeps; ++half)
    for (Rank& rank : ranks) half_sweep(ranks, rank, half);
  std::vector<std::vector<float>> all(static_cast<std::size_t>(problem.sites()));
  for (const Rank& rank : ranks)
    for (Word colour = 0; colour < 2; ++colour)
      for (Word n = 0; n < rank.cells.all; ++n) {
        const Cell cell = rank.cells[n];
        const auto site = rank.sites.site(cell, rank.sites.odd(colour, cell));
        const auto spin =
            load(rank.sites.of_replica(colour, cell.replica) + rank.sites.index(cell), rank.sites.elements);
        all[site].insert(all[site].end(), {static_cast<float>(cell.replica), spin.x, spin.y, spin.z});
      }
  for (auto& spins : all)  // the order of the replicas is that of the boxes
    if (spins.size() == 8 && spins[0] > spins[4]) std::rotate(spins.begin(), spins.begin() + 4, spins.end());
  return all;
}

// The same by the solver on hosts.
std::vector<std::vector<float>> spins_by_solver(const Problem& problem) {
  std::vector<std::vector<float>> all(static_cast<std::size_t>(problem.sites()));
  const auto simulate = [&](World& world) {
    Lattice<float> lattice(world, problem, make_grid(problem, 1, {1, 1, 1}));
    const auto exchange = direct_exchange(world, lattice);
    Solver<float> solver(world, lattice);
    for (Word sweep = 0; sweep < sweeps; ++sweep) solver.sweep(kind_of(sweep), *exchange, true);
    const Share& share = lattice.share();
    for (int colour = 0; colour < 2; ++colour)
      for (std::int64_t z = 0; z < share.cells()[0]; ++z)
        for (std::int64_t y = 0; y < share.cells()[1]; ++y)
          for (std::int64_t h = 0; h < share.cells()[2]; ++h)
            for (int replica = 0; replica < problem.replicas; ++replica) {
              const Vector<float> spin = lattice.spin(colour, {z, y, h}, replica);
              auto& to = all[static_cast<std::size_t>(problem.site(share.site_of(colour, z, y, h)))];
              to.insert(to.end(), {static_cast<float>(replica), spin.x, spin.y, spin.z});
            }
  };
  World::run_threads(1, simulate);
  return all;
}

TEST(SpinSites, AreTheSameToTheBitOnAnyGrid) {
  const Problem problem{.extents = {6, 4, 12}, .beta = 0.7, .replicas = 2, .seed = 5};
  const auto alone = spins_after(problem, {1, 1, 1}, true);
  ASSERT_EQ(alone, spins_by_solver(problem));
  for (const std::vector<int>& shape : std::vector<std::vector<int>>{
           {2, 1, 1}, {1, 2, 1}, {1, 1, 2}, {3, 1, 1}, {1, 1, 4}, {2, 2, 2}, {6, 1, 1}, {1, 1, 6}})
    for (const bool overlap : {true, false})
      EXPECT_EQ(spins_after(problem, shape, overlap), alone)
          << shape[0] << "x" << shape[1] << "x" << shape[2];
}

}  // namespace
}  // namespace tca::spin
