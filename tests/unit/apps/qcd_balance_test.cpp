// Tests what lattice QCD needs of a network against the operator's own messages, and against published figures.
#include <gtest/gtest.h>

#include "qcd/balance.hpp"
#include "qcd/operators/wilson.hpp"
#include "qcd/spinor.hpp"
#include "qcd_lab.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

TEST(QcdBalance, CountsWhatTheOperatorSends) {
  const Extents global{4, 8, 4, 8};
  for (const test::Shape4& shape :
       {test::Shape4{1, 1, 1, 2}, test::Shape4{1, 2, 1, 2}, test::Shape4{2, 2, 1, 1}}) {
    test::on_grid(shape, global, [&](World& world, const Lattice& lattice, Gauge& gauge) {
      const Wilson<double> d(world, gauge, {.even_odd = false});
      const Balance balance = balance_of(global, lattice.local(), 1, 1, sizeof(double));
      EXPECT_EQ(balance.bytes, static_cast<double>(d.bytes())) << describe(lattice.local());
    });
  }
}

// P. Vicini, ACAT 2013, at the speed that its first line asks for; its figures have two digits.
TEST(QcdBalance, HasThePublishedBandwidths) {
  const Extents global{64, 64, 64, 128};
  struct Line {
    Extents domain;
    int gpus, nodes;
    double gb_per_s;
  };
  for (const Line& line : {Line{{16, 16, 16, 32}, 2, 128, 4.0}, Line{{32, 32, 32, 32}, 2, 16, 2.1},
                           Line{{16, 16, 16, 32}, 4, 64, 7.4}, Line{{32, 32, 32, 32}, 4, 8, 3.7}}) {
    const Balance balance = balance_of(global, line.domain, line.gpus, 135, sizeof(float));
    EXPECT_EQ(balance.nodes[0] * balance.nodes[1] * balance.nodes[2] * balance.nodes[3], line.nodes);
    EXPECT_NEAR(balance.gb_per_s(), line.gb_per_s, 0.051) << describe(line.domain) << " " << line.gpus;
  }
}

TEST(QcdBalance, RefusesNodesThatDoNotDivideTheLattice) {
  try {
    (void)balance_of({64, 64, 64, 128}, {16, 16, 16, 48}, 2, 135, sizeof(float));
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "2 GPUs with 16x16x16x48 sites each make a node of 16x16x16x96, which does not divide a lattice of "
        "64x64x64x128");
  }
}

}  // namespace
}  // namespace tca::qcd
