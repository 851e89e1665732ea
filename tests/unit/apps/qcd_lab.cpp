#include "qcd_lab.hpp"

#include <algorithm>
#include <cmath>

#include "qcd/random.hpp"

namespace tca::qcd::test {

std::vector<Shape4> all_shapes(int most, const Extents& global, bool even) {
  std::vector<Shape4> shapes;
  const auto fits = [&](const Shape4& shape) {
    int ranks = 1;
    for (std::size_t mu = 0; mu < dims; ++mu) {
      ranks *= shape[mu];
      if (global[mu] % shape[mu] != 0 || (even && global[mu] / shape[mu] % 2 != 0)) return false;
    }
    return ranks <= most;
  };
  for (int x = 1; x <= most; ++x)
    for (int y = 1; x * y <= most; ++y)
      for (int z = 1; x * y * z <= most; ++z)
        for (int t = 1; x * y * z * t <= most; ++t)
          if (fits({x, y, z, t})) shapes.push_back({x, y, z, t});
  return shapes;
}

void on_grid(const Shape4& shape, const Extents& global,
             const std::function<void(World&, const Lattice&, Gauge&)>& body) {
  const Grid grid = grid_of(shape);
  World::run_threads(grid.ranks(), [&](World& world) {
    const Lattice lattice(grid, global, world.rank());
    Gauge gauge(world, lattice);
    gauge.randomise(1);
    body(world, lattice, gauge);
  });
}

Field<double> reals_of(const Gauge& gauge) {
  Field<double> all;
  const Lattice& lattice = gauge.lattice();
  for (std::int64_t s = 0; s < lattice.volume(); ++s) {
    for (int mu = 0; mu < dims; ++mu) {
      const auto* const reals =
          reinterpret_cast<const double*>(&gauge.links(mu)[gauge.index(lattice.coordinates(s))]);
      all.insert(all.end(), reals, reals + 18);
    }
  }
  return all;
}

template <class T>
Field<T> random_field(const Lattice& lattice, Sites sites, int rhs, int reals, std::uint64_t seed) {
  Field<T> field;
  const Range range = lattice.range(sites);
  for (std::int64_t s = range.begin; s < range.end; ++s) {
    RandomStream random(seed, Purpose::source, static_cast<std::uint64_t>(lattice.global_index(s)), 0, 0);
    for (int i = 0; i < rhs * reals; ++i) field.push_back(static_cast<T>(random.gaussian()));
  }
  return field;
}

// Every rank puts its sites into a window for the whole lattice on every rank.
template <class T>
std::vector<T> gathered(World& world, const Lattice& lattice, Sites sites, const Field<T>& field) {
  const Range range = lattice.range(sites);
  const auto reals = static_cast<std::int64_t>(field.size()) / range.size();
  auto all = world.window<T>(lattice.global_volume() * reals);
  Chain chain = world.chain("gather");
  auto mine = world.window<T>(static_cast<std::int64_t>(field.size()));
  mine.write(0, field);
  for (int rank = 0; rank < world.size(); ++rank) {
    for (std::int64_t s = range.begin; s < range.end; ++s)
      chain.put(all.on(rank).at(lattice.global_index(s) * reals), mine.at((s - range.begin) * reals),
                block(reals));
    chain.expect(rank);
  }
  chain.commit();
  chain.start();
  chain.wait();
  return {all.elements().begin(), all.elements().end()};
}

template <class T>
double largest_difference(const std::vector<T>& a, const std::vector<T>& b) {
  double largest = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

#define TCA_QCD_LAB(T)                                                              \
  template Field<T> random_field(const Lattice&, Sites, int, int, std::uint64_t);   \
  template std::vector<T> gathered(World&, const Lattice&, Sites, const Field<T>&); \
  template double largest_difference(const std::vector<T>&, const std::vector<T>&)
TCA_QCD_LAB(float);
TCA_QCD_LAB(double);
#undef TCA_QCD_LAB

}  // namespace tca::qcd::test
