// Tests Wilson's operator against dense gamma matrices and plane waves, its symmetries, and every grid
// against one rank.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>

#include "qcd/operators/wilson.hpp"
#include "qcd/random.hpp"
#include "qcd/spinor.hpp"
#include "qcd_lab.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

using test::gathered;
using test::largest_difference;
using test::on_grid;
using test::random_field;
using test::Shape4;
using Dense = std::array<std::array<std::complex<double>, 4>, 4>;
using namespace std::complex_literals;

// The Euclidean gamma matrices in the chiral basis.
const std::array<Dense, 4> gammas{{{{{0, 0, 0, -1i}, {0, 0, -1i, 0}, {0, 1i, 0, 0}, {1i, 0, 0, 0}}},
                                   {{{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}}},
                                   {{{0, 0, -1i, 0}, {0, 0, 0, 1i}, {1i, 0, 0, 0}, {0, -1i, 0, 0}}},
                                   {{{0, 0, 1, 0}, {0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}}}}};

// Returns where a spin and colour lie in the 24 reals of a site.
std::size_t place(int spin, int colour) {
  return static_cast<std::size_t>(spin / 2 * half_reals + colour * 4 + spin % 2 * 2);
}

std::complex<double>& entry(double* site, int spin, int colour) {
  return *reinterpret_cast<std::complex<double>*>(site + place(spin, colour));
}

std::complex<double> entry(const double* site, int spin, int colour) {
  return {site[place(spin, colour)], site[place(spin, colour) + 1]};
}

TEST(QcdGammas, AnticommuteAndSquareToOne) {
  for (std::size_t mu = 0; mu < 4; ++mu) {
    for (std::size_t nu = 0; nu < 4; ++nu) {
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < 4; ++b) {
          std::complex<double> sum = 0;
          for (std::size_t c = 0; c < 4; ++c)
            sum += gammas[mu][a][c] * gammas[nu][c][b] + gammas[nu][a][c] * gammas[mu][c][b];
          EXPECT_EQ(sum, (mu == nu && a == b ? 2.0 : 0.0)) << mu << nu;
        }
      }
    }
  }
}

// Returns D psi computed by the definition on one rank, with dense matrices and complex numbers. Of the code
// under test it uses only the links.
Field<double> reference(const Lattice& lattice, const Gauge& gauge, const WilsonOptions& options,
                        const Field<double>& psi) {
  Field<double> out = psi;
  const Extents& n = lattice.global();
  for (std::int64_t s = 0; s < lattice.volume(); ++s) {
    for (std::size_t mu = 0; mu < 4; ++mu) {
      for (const int step : {1, -1}) {
        Extents from = lattice.coordinates(s);
        from[mu] += step;
        const bool wraps = from[mu] < 0 || from[mu] >= n[mu];
        from[mu] = (from[mu] + n[mu]) % n[mu];
        const double phase = wraps && mu == 3 && options.antiperiodic ? -1 : 1;
        const Link& link =
            gauge.links(static_cast<int>(mu))[gauge.index(step > 0 ? lattice.coordinates(s) : from)];
        const Link u = step > 0 ? link : adjoint(link);
        for (int spin = 0; spin < 4; ++spin) {
          for (int a = 0; a < 3; ++a) {
            std::complex<double> sum = 0;
            for (int other = 0; other < 4; ++other) {
              const std::complex<double> projector =
                  (spin == other ? 1.0 : 0.0) -
                  double(step) * gammas[mu][static_cast<std::size_t>(spin)][static_cast<std::size_t>(other)];
              for (int b = 0; b < 3; ++b)
                sum += projector * std::complex<double>(u.m[a][b].re, u.m[a][b].im) *
                       entry(psi.data() + lattice.site(from) * spinor_reals, other, b);
            }
            entry(out.data() + s * spinor_reals, spin, a) -= options.kappa * phase * sum;
          }
        }
      }
    }
  }
  return out;
}

TEST(QcdWilson, IsItsDefinition) {
  on_grid({1, 1, 1, 1}, {4, 2, 3, 4}, [](World& world, const Lattice& lattice, Gauge& gauge) {
    for (const Storage storage : {Storage::full, Storage::two_rows}) {
      for (const bool antiperiodic : {true, false}) {
        const WilsonOptions options{
            .kappa = 0.13, .antiperiodic = antiperiodic, .storage = storage, .even_odd = false};
        const Field<double> psi = random_field<double>(lattice, Sites::all, 1, spinor_reals);
        Field<double> out(psi.size());
        Wilson<double>(world, gauge, options).apply(psi, out, false);
        const Field<double> expected = reference(lattice, gauge, options, psi);
        for (std::size_t i = 0; i < out.size(); ++i) ASSERT_NEAR(out[i], expected[i], 1e-13) << i;
      }
    }
  });
}

// Without a gauge field, a plane wave is an eigenvector in space: D(p) = 1 - 2 kappa sum (cos p - i gamma sin
// p).
TEST(QcdWilson, ActsOnPlaneWavesAsInMomentumSpace) {
  constexpr double kappa = 0.11, pi = std::numbers::pi;
  const Extents global{4, 4, 4, 6};
  World::run_threads(2, [&](World& world) {
    const Lattice lattice(test::grid_of({1, 2, 1, 1}), global, world.rank());
    Gauge gauge(world, lattice);
    Wilson<double> d(world, gauge, {.kappa = kappa, .antiperiodic = true, .even_odd = false});
    // The fields are antiperiodic in time, so the momenta there are half-integers.
    const std::array<double, 4> p{2 * pi / 4, 0, 2 * pi * 3 / 4, 2 * pi * 1.5 / 6};
    const std::array<std::complex<double>, 4> spin{0.3 + 0.1i, -0.7i, 0.9, 0.2 - 0.5i};
    Field<double> psi(d.shape().size(), 0), out(psi.size());
    const auto wave = [&](std::int64_t s) {
      double phase = 0;
      for (std::size_t mu = 0; mu < 4; ++mu)
        phase += p[mu] * static_cast<double>(lattice.global_coordinates(s)[mu]);
      return std::polar(1.0, phase);
    };
    for (std::int64_t s = 0; s < lattice.volume(); ++s)
      for (int a = 0; a < 4; ++a)
        entry(psi.data() + s * spinor_reals, a, 1) = wave(s) * spin[static_cast<std::size_t>(a)];
    d.apply(psi, out, false);
    for (std::int64_t s = 0; s < lattice.volume(); ++s) {
      for (std::size_t a = 0; a < 4; ++a) {
        std::complex<double> expected = spin[a];
        for (std::size_t mu = 0; mu < 4; ++mu) {
          expected -= 2 * kappa * std::cos(p[mu]) * spin[a];
          for (std::size_t b = 0; b < 4; ++b)
            expected += 2i * kappa * std::sin(p[mu]) * gammas[mu][a][b] * spin[b];
        }
        const auto value =
            entry(static_cast<const double*>(out.data()) + s * spinor_reals, static_cast<int>(a), 1);
        ASSERT_NEAR(std::abs(value - wave(s) * expected), 0, 1e-13);
      }
    }
  });
}

void turn_lower_half(Field<double>& psi) {
  for (std::size_t i = 0; i < psi.size(); ++i)
    if (i % spinor_reals >= half_reals) psi[i] = -psi[i];
}

TEST(QcdWilson, IsGamma5Hermitian) {
  for (const bool even_odd : {false, true}) {
    on_grid({1, 1, 2, 1}, {4, 4, 4, 4}, [&](World& world, const Lattice& lattice, Gauge& gauge) {
      Wilson<double> d(world, gauge, {.kappa = 0.14, .even_odd = even_odd});
      Field<double> psi = random_field<double>(lattice, d.sites(), 1, spinor_reals);
      Field<double> dagger(psi.size()), turned(psi.size());
      d.apply(psi, dagger, true);
      turn_lower_half(psi);
      d.apply(psi, turned, false);
      turn_lower_half(turned);
      for (std::size_t i = 0; i < psi.size(); ++i) ASSERT_NEAR(dagger[i], turned[i], 1e-13);
    });
  }
}

// Checks <a, D b> = <D^dagger a, b>, where D^dagger takes a different path through the code.
TEST(QcdWilson, HasItsAdjoint) {
  on_grid({1, 1, 1, 1}, {4, 4, 4, 4}, [](World& world, const Lattice& lattice, Gauge& gauge) {
    Wilson<double> d(world, gauge, {.kappa = 0.14});
    const Field<double> a = random_field<double>(lattice, Sites::even, 1, spinor_reals, 1);
    const Field<double> b = random_field<double>(lattice, Sites::even, 1, spinor_reals, 2);
    Field<double> da(a.size()), db(b.size());
    d.apply(a, da, true);
    d.apply(b, db, false);
    const Complex<double> left = dots(d.shape(), a, db)[0], right = dots(d.shape(), da, b)[0];
    EXPECT_NEAR(left.re, right.re, 1e-10);
    EXPECT_NEAR(left.im, right.im, 1e-10);
  });
}

// A gauge transformation multiplies every link by matrices at its ends, and the spinors with them. Nothing
// else may change.
TEST(QcdWilson, IsGaugeCovariant) {
  on_grid({2, 1, 1, 1}, {4, 4, 4, 4}, [](World& world, const Lattice& lattice, Gauge& gauge) {
    const auto rotation = [&](Extents site) {
      for (std::size_t mu = 0; mu < 4; ++mu)
        site[mu] = (site[mu] + lattice.global()[mu]) % lattice.global()[mu];
      const std::int64_t index = site[0] + 4 * (site[1] + 4 * (site[2] + 4 * site[3]));
      RandomStream random(3, Purpose::transformation, static_cast<std::uint64_t>(index), 0, 0);
      return random_su3(random);
    };
    const auto turn = [&](Field<double>& psi) {
      for (std::int64_t s = 0; s < lattice.volume(); ++s) {
        const Link g = rotation(lattice.global_coordinates(s));
        double* const site = psi.data() + s * spinor_reals;
        for (int half = 0; half < 2; ++half)
          store_half(site + half * half_reals, multiply<double>(g, load_half(site + half * half_reals)));
      }
    };
    const WilsonOptions options{.kappa = 0.14, .even_odd = false};
    Field<double> psi = random_field<double>(lattice, Sites::all, 1, spinor_reals);
    Field<double> before(psi.size()), after(psi.size());
    Wilson<double>(world, gauge, options).apply(psi, before, false);
    turn(before);
    const double plaquette = gauge.averages().plaquette;
    for (std::int64_t s = 0; s < lattice.volume(); ++s) {
      for (int mu = 0; mu < 4; ++mu) {
        Extents next = lattice.global_coordinates(s);
        ++next[static_cast<std::size_t>(mu)];
        Link& link = gauge.links(mu)[gauge.index(lattice.coordinates(s))];
        link = rotation(lattice.global_coordinates(s)) * link * adjoint(rotation(next));
      }
    }
    gauge.exchange();
    turn(psi);
    Wilson<double>(world, gauge, options).apply(psi, after, false);
    for (std::size_t i = 0; i < psi.size(); ++i) ASSERT_NEAR(before[i], after[i], 1e-12);
    EXPECT_NEAR(gauge.averages().plaquette, plaquette, 1e-13);
  });
}

template <class T>
std::vector<T> applied(const Shape4& shape, const Extents& global, const WilsonOptions& options,
                       bool dagger) {
  std::vector<T> result;
  on_grid(shape, global, [&](World& world, const Lattice& lattice, Gauge& gauge) {
    Wilson<T> d(world, gauge, options);
    const Field<T> psi = random_field<T>(lattice, d.sites(), options.rhs, spinor_reals);
    Field<T> out(psi.size());
    for (int again = 0; again < 3; ++again) d.apply(psi, out, dagger);
    const std::vector<T> all = gathered(world, lattice, d.sites(), out);
    if (world.rank() == 0) result = all;
  });
  return result;
}

// The results agree to the bit, since each site adds its terms in one order, wherever they come from.
TEST(QcdWilson, IsTheSameOnEveryGrid) {
  const Extents global{4, 4, 4, 4};
  for (const bool even_odd : {false, true}) {
    const WilsonOptions options{.kappa = 0.13, .rhs = 2, .even_odd = even_odd};
    const auto alone = applied<double>({1, 1, 1, 1}, global, options, true);
    const auto alone_single = applied<float>({1, 1, 1, 1}, global, options, false);
    for (const Shape4& shape : test::all_shapes(4, global, even_odd)) {
      const std::string name = test::grid_of(shape).describe();
      EXPECT_EQ(largest_difference(applied<double>(shape, global, options, true), alone), 0) << name;
      EXPECT_EQ(largest_difference(applied<float>(shape, global, options, false), alone_single), 0) << name;
    }
  }
}

TEST(QcdWilson, IsTheSameOnSixteenRanks) {
  const WilsonOptions options{.kappa = 0.13};
  const Extents global{4, 4, 4, 4};
  EXPECT_EQ(largest_difference(applied<double>({2, 2, 2, 2}, global, options, false),
                               applied<double>({1, 1, 1, 1}, global, options, false)),
            0);
}

TEST(QcdWilson, TakesOddExtentsWithoutEvenOdd) {
  const WilsonOptions options{.kappa = 0.13, .even_odd = false};
  const Extents global{3, 2, 6, 2};
  EXPECT_EQ(largest_difference(applied<double>({3, 1, 2, 1}, global, options, false),
                               applied<double>({1, 1, 1, 1}, global, options, false)),
            0);
}

TEST(QcdWilson, GivesTheSameFromTwelveRealsAndEighteen) {
  WilsonOptions options{.kappa = 0.13};
  const auto twelve = applied<double>({1, 1, 1, 2}, {4, 4, 4, 4}, options, false);
  options.storage = Storage::full;
  EXPECT_LT(largest_difference(applied<double>({1, 1, 1, 2}, {4, 4, 4, 4}, options, false), twelve), 1e-13);
}

TEST(QcdWilson, RefusesOddExtentsWithEvenOdd) {
  try {
    applied<double>({1, 1, 2, 1}, {4, 4, 6, 4}, {}, false);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_NE(std::string(error.what()).find("leaves 3 along z"), std::string::npos) << error.what();
  }
}

TEST(QcdLattice, RefusesWhatDoesNotDivide) {
  try {
    const Lattice lattice(test::grid_of({1, 3, 1, 1}), {4, 4, 4, 4}, 0);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("4x4x4x4 does not divide by the grid 1x3x1x1"),
              std::string::npos)
        << error.what();
  }
  EXPECT_THROW(choose_grid(3, {4, 4, 4, 4}), Error);
  EXPECT_EQ(choose_grid(4, {8, 8, 8, 8}).describe(), "1x1x1x4");
}

}  // namespace
}  // namespace tca::qcd
