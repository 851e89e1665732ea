// Checks, for random lattices, grids and operators, that many ranks compute the same as one.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "qcd/operators/wilson.hpp"
#include "qcd/random.hpp"
#include "tca/chain.hpp"
#include "tca/world.hpp"

namespace tca::qcd {
namespace {

struct Case {
  std::array<int, dims> grid;
  Extents global;
  WilsonOptions options;
  bool dagger;
};

Case any_case() {
  Case one{};
  one.options.even_odd = *rc::gen::arbitrary<bool>();
  int ranks = 1;
  for (std::size_t mu = 0; mu < dims; ++mu) {
    one.grid[mu] = ranks >= 6 ? 1 : *rc::gen::inRange(1, 4);
    ranks *= one.grid[mu];
    const int sites = one.options.even_odd ? 2 * *rc::gen::inRange(1, 3) : *rc::gen::inRange(1, 4);
    one.global[mu] = one.grid[mu] * sites;
  }
  one.options.kappa = 0.01 * *rc::gen::inRange(1, 20);
  one.options.antiperiodic = *rc::gen::arbitrary<bool>();
  one.options.storage = *rc::gen::element(Storage::full, Storage::two_rows);
  one.options.rhs = *rc::gen::inRange(1, 4);
  one.dagger = *rc::gen::arbitrary<bool>();
  return one;
}

// Returns D psi by global site, computed on a grid of the given shape.
std::vector<double> applied(const Case& one, const std::array<int, dims>& shape) {
  const Grid grid(shape[0] * shape[1] * shape[2] * shape[3], {shape.begin(), shape.end()},
                  std::vector<bool>(dims, true));
  const std::int64_t reals = std::int64_t{one.options.rhs} * 24;
  std::vector<double> all;
  World::run_threads(grid.ranks(), [&](World& world) {
    const Lattice lattice(grid, one.global, world.rank());
    Gauge gauge(world, lattice);
    gauge.randomise(1);
    Wilson<double> d(world, gauge, one.options);
    const Range range = lattice.range(d.sites());
    Field<double> psi, out(d.shape().size());
    for (std::int64_t s = range.begin; s < range.end; ++s) {
      RandomStream random(2, Purpose::source, static_cast<std::uint64_t>(lattice.global_index(s)), 0, 0);
      for (std::int64_t i = 0; i < reals; ++i) psi.push_back(random.gaussian());
    }
    d.apply(psi, out, one.dagger);
    auto mine = world.window<double>(out.size());
    mine.write(0, out);
    auto whole = world.window<double>(world.rank() == 0 ? lattice.global_volume() * reals : 0);
    Chain chain = world.chain("gather");
    for (std::int64_t s = range.begin; s < range.end; ++s)
      chain.put(whole.on(0).at(lattice.global_index(s) * reals), mine.at((s - range.begin) * reals),
                block(reals));
    for (int rank = 0; world.rank() == 0 && rank < world.size(); ++rank) chain.expect(rank);
    chain.commit();
    chain.start();
    chain.wait();
    if (world.rank() == 0) all.assign(whole.elements().begin(), whole.elements().end());
  });
  return all;
}

RC_GTEST_PROP(RandomLattices, GiveTheSameBitsOnEveryGrid, ()) {
  const Case one = any_case();
  RC_CLASSIFY(one.options.even_odd, "even-odd");
  RC_ASSERT(applied(one, one.grid) == applied(one, {1, 1, 1, 1}));
}

}  // namespace
}  // namespace tca::qcd
