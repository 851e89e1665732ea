#include "qcd/heat_bath.hpp"

#include <fmt/format.h>

#include <cmath>

#include "qcd/random.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

// The matrix a0 + i a.sigma. Those of norm 1 form SU(2).
struct Quaternion {
  double a0, a1, a2, a3;
};

Quaternion operator*(const Quaternion& a, const Quaternion& b) {
  return {a.a0 * b.a0 - a.a1 * b.a1 - a.a2 * b.a2 - a.a3 * b.a3,
          a.a0 * b.a1 + a.a1 * b.a0 - (a.a2 * b.a3 - a.a3 * b.a2),
          a.a0 * b.a2 + a.a2 * b.a0 - (a.a3 * b.a1 - a.a1 * b.a3),
          a.a0 * b.a3 + a.a3 * b.a0 - (a.a1 * b.a2 - a.a2 * b.a1)};
}
Quaternion inverse(const Quaternion& a) { return {a.a0, -a.a1, -a.a2, -a.a3}; }

struct Subgroup {
  int p, q;  // rows and columns
};
constexpr Subgroup subgroups[] = {{0, 1}, {0, 2}, {1, 2}};

// The part of a 2x2 block that Re tr(a block) depends on, for a in SU(2): Re tr(a block) = Re tr(a part).
Quaternion part_in(const Link& w, Subgroup g) {
  const auto &pp = w.m[g.p][g.p], &pq = w.m[g.p][g.q], &qp = w.m[g.q][g.p], &qq = w.m[g.q][g.q];
  return {(pp.re + qq.re) / 2, (pq.im + qp.im) / 2, (pq.re - qp.re) / 2, (pp.im - qq.im) / 2};
}

void multiply_rows(const Quaternion& a, Subgroup g, Link& x) {
  const Complex<double> pp{a.a0, a.a3}, pq{a.a2, a.a1}, qp{-a.a2, a.a1}, qq{a.a0, -a.a3};
  for (int b = 0; b < 3; ++b) {
    const Complex<double> up = x.m[g.p][b], down = x.m[g.q][b];
    x.m[g.p][b] = pp * up + pq * down;
    x.m[g.q][b] = qp * up + qq * down;
  }
}

// Draws a0 with density sqrt(1 - a0^2) exp(strength a0).
double draw_kennedy_pendleton(double strength, RandomStream& random) {
  while (true) {
    const double x = -std::log(random.uniform()) / strength;
    const double c = std::cos(6.283185307179586 * random.uniform());
    const double y = -std::log(random.uniform()) / strength;
    const double delta = x * c * c + y;
    const double accept = random.uniform();
    if (accept * accept <= 1 - delta / 2) return 1 - delta;
  }
}

double draw_creutz(double strength, RandomStream& random) {
  while (true) {
    const double least = std::exp(-2 * strength);
    const double a0 = strength < 1e-12 ? 2 * random.uniform() - 1
                                       : 1 + std::log(least + (1 - least) * random.uniform()) / strength;
    const double accept = random.uniform();
    if (accept * accept <= 1 - a0 * a0) return a0;
  }
}

Quaternion draw(double strength, RandomStream& random) {
  // Below about this strength, the method of Kennedy and Pendleton rejects more often than that of Creutz.
  constexpr double enough = 1.5;
  const double a0 =
      strength > enough ? draw_kennedy_pendleton(strength, random) : draw_creutz(strength, random);
  const double radius = std::sqrt(std::fmax(0.0, 1 - a0 * a0));
  const double cosine = 2 * random.uniform() - 1;
  const double sine = std::sqrt(std::fmax(0.0, 1 - cosine * cosine));
  const double angle = 6.283185307179586 * random.uniform();
  return {a0, radius * sine * std::cos(angle), radius * sine * std::sin(angle), radius * cosine};
}

// Multiplies the link by an element of each SU(2) subgroup. `choose` is given the direction and the strength
// of the staple, and returns what the product of that element and the direction is to be.
template <class Choose>
Link update_link(const Link& link, const Link& staple, const Choose& choose) {
  Link x = link;
  for (const Subgroup g : subgroups) {
    const Quaternion part = part_in(x * staple, g);
    const double size =
        std::sqrt(part.a0 * part.a0 + part.a1 * part.a1 + part.a2 * part.a2 + part.a3 * part.a3);
    if (size < 1e-14) continue;  // no direction is preferred
    const Quaternion unit{part.a0 / size, part.a1 / size, part.a2 / size, part.a3 / size};
    multiply_rows(choose(unit, size) * inverse(unit), g, x);
  }
  return nearest_su3(x);
}

}  // namespace

void check_heat_bath(const Extents& global) {
  for (const std::int64_t extent : global) {
    if (extent % 2 == 0) continue;
    throw Error(Errc::invalid_argument,
                fmt::format("the heat bath needs even extents, the lattice is {}", describe(global)));
  }
}

HeatBath::HeatBath(Gauge& gauge, double beta, std::uint64_t seed) : gauge_(gauge), beta_(beta), seed_(seed) {
  check_heat_bath(gauge.lattice().global());
}

template <class Update>
void HeatBath::update_all(const Update& update) {
  const Lattice& lattice = gauge_.lattice();
  for (int mu = 0; mu < dims; ++mu) {
    for (const Sites parity : {Sites::even, Sites::odd}) {
      const Range range = lattice.range(parity);
      for (std::int64_t s = range.begin; s < range.end; ++s) {
        const std::int64_t i = gauge_.index(lattice.coordinates(s));
        RandomStream random(seed_, Purpose::update, static_cast<std::uint64_t>(lattice.global_index(s)), mu,
                            sweep_);
        gauge_.links(mu)[i] = update(gauge_.links(mu)[i], gauge_.staple(i, mu), random);
      }
      gauge_.exchange(mu);
    }
  }
  ++sweep_;
}

void HeatBath::sweep() {
  update_all([this](const Link& link, const Link& staple, RandomStream& random) {
    return update_link(link, staple,
                       [&](const Quaternion&, double size) { return draw(2 * beta_ / 3 * size, random); });
  });
}

void HeatBath::over_relax() {
  update_all([](const Link& link, const Link& staple, RandomStream&) {
    return update_link(link, staple, [](const Quaternion& unit, double) { return inverse(unit); });
  });
}

}  // namespace tca::qcd
