// Links: random numbers, updates, and files.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "qcd/configuration.hpp"
#include "qcd/heat_bath.hpp"
#include "qcd/random.hpp"
#include "qcd_lab.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

namespace fs = std::filesystem;
using test::on_grid;
using test::Shape4;

constexpr Extents small{4, 4, 4, 4};

// The known answers that come with Random123.
TEST(QcdRandom, IsPhilox) {
  const auto check = [](Philox counter, std::uint32_t key0, std::uint32_t key1, Philox expected) {
    const Philox result = philox(counter, key0, key1);
    for (int i = 0; i < 4; ++i) EXPECT_EQ(result.word[i], expected.word[i]);
  };
  check({{0, 0, 0, 0}}, 0, 0, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
  check({{~0U, ~0U, ~0U, ~0U}}, ~0U, ~0U, {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
  check({{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}, 0xa4093822, 0x299f31d0,
        {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});
}

TEST(QcdRandom, HasTheMomentsItShould) {
  RandomStream random(1, Purpose::source, 5, 0, 0);
  double mean = 0, square = 0, uniform = 0;
  constexpr int count = 100000;
  for (int i = 0; i < count; ++i) {
    const double value = random.gaussian();
    mean += value / count;
    square += value * value / count;
    uniform += random.uniform() / count;
  }
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(square, 1, 0.03);
  EXPECT_NEAR(uniform, 0.5, 0.005);
}

// All links by global site, as bits.
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

std::vector<double> swept(const Shape4& shape, const Extents& global, double beta, int sweeps,
                          double* plaquette) {
  std::vector<double> result;
  on_grid(shape, global, [&](World& world, const Lattice& lattice, Gauge& gauge) {
    HeatBath heat_bath(gauge, beta, 11);
    for (int n = 0; n < sweeps; ++n) {
      heat_bath.sweep();
      heat_bath.over_relax();
    }
    const double average = gauge.averages().plaquette;
    const std::vector<double> all = test::gathered(world, lattice, Sites::all, reals_of(gauge));
    if (world.rank() != 0) return;
    result = all;
    if (plaquette != nullptr) *plaquette = average;
  });
  return result;
}

TEST(QcdHeatBath, IsTheSameOnEveryGridToTheBit) {
  const std::vector<double> alone = swept({1, 1, 1, 1}, small, 5.7, 2, nullptr);
  for (const Shape4& shape : test::all_shapes(4, small, false)) {
    EXPECT_EQ(test::largest_difference(swept(shape, small, 5.7, 2, nullptr), alone), 0)
        << test::grid_of(shape).describe();
  }
}

// Strong coupling's series, beta/18 + ..., and the weak one's plaquette on a lattice of this size.
TEST(QcdHeatBath, ReachesThePlaquette) {
  double strong = 0, weak = 0;
  swept({1, 1, 1, 1}, {4, 4, 4, 4}, 0.9, 12, &strong);
  EXPECT_NEAR(strong, 0.9 / 18 + 0.9 * 0.9 / 216, 0.015);
  swept({1, 1, 2, 1}, {4, 4, 4, 4}, 6.0, 40, &weak);
  EXPECT_NEAR(weak, 0.598, 0.02);
}

TEST(QcdHeatBath, OverRelaxationKeepsTheActionAndMovesTheLinks) {
  on_grid({1, 2, 1, 1}, small, [](World&, const Lattice&, Gauge& gauge) {
    HeatBath heat_bath(gauge, 5.5, 3);
    for (int n = 0; n < 3; ++n) heat_bath.sweep();
    const double before = gauge.averages().plaquette;
    const Link moved = gauge.links(2)[gauge.index({1, 1, 1, 1})];
    heat_bath.over_relax();
    EXPECT_NEAR(gauge.averages().plaquette, before, 1e-12);
    EXPECT_LT(real_trace_with_adjoint(moved, gauge.links(2)[gauge.index({1, 1, 1, 1})]), 2.9);
    gauge.require_unitary(1e-12);
  });
}

TEST(QcdHeatBath, RefusesOddExtents) {
  on_grid({1, 1, 1, 1}, {4, 3, 4, 4},
          [](World&, const Lattice&, Gauge& gauge) { EXPECT_THROW(HeatBath(gauge, 6, 1), Error); });
}

class QcdFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "qcd_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    path_ = (folder_ / "links").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(Format format, int bits, const Shape4& shape = {1, 1, 1, 1}) {
    on_grid(shape, small, [&](World& world, const Lattice&, Gauge& gauge) {
      write_configuration(world, gauge, path_, format, bits);
    });
  }
  double difference_after_reading(const Shape4& shape) {
    double largest = 0;
    on_grid(shape, small, [&](World& world, const Lattice& lattice, Gauge& gauge) {
      const auto before = test::gathered(world, lattice, Sites::all, reals_of(gauge));
      for (int mu = 0; mu < dims; ++mu)
        for (std::int64_t s = 0; s < lattice.volume(); ++s)
          gauge.links(mu)[gauge.index(lattice.coordinates(s))] = identity<double>();
      read_configuration(world, gauge, path_, inspect_configuration(path_));
      const auto after = test::gathered(world, lattice, Sites::all, reals_of(gauge));
      if (world.rank() == 0) largest = test::largest_difference(before, after);
    });
    return largest;
  }
  std::string refusal() {
    try {
      difference_after_reading({1, 1, 1, 2});
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  std::string contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void replace(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

  fs::path folder_;
  std::string path_;
};

TEST_F(QcdFile, GoesRoundOnAnyGrid) {
  for (const Format format : {Format::nersc, Format::ildg}) {
    for (const int bits : {64, 32}) {
      write(format, bits, {1, 2, 1, 1});
      const std::string several = contents();
      write(format, bits, {1, 1, 1, 1});
      // The averages in the headers may differ in their last digits, the links may not.
      EXPECT_EQ(several.size(), contents().size());
      EXPECT_LT(difference_after_reading({2, 1, 1, 2}), bits == 64 ? 1e-14 : 1e-6);
      EXPECT_LT(difference_after_reading({1, 1, 1, 1}), bits == 64 ? 1e-14 : 1e-6);
      EXPECT_EQ(inspect_configuration(path_).bits, bits);
    }
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "something unfinished was left";
}

TEST_F(QcdFile, DamagedIsRefused) {
  for (const Format format : {Format::nersc, Format::ildg}) {
    write(format, 64);
    std::string bytes = contents();
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    replace(bytes);
    EXPECT_NE(refusal().find("damaged: its checksum"), std::string::npos) << refusal();
  }
}

TEST_F(QcdFile, CutOffIsRefused) {
  for (const Format format : {Format::nersc, Format::ildg}) {
    write(format, 32);
    const std::string whole = contents();
    for (const std::size_t size :
         {whole.size() - 1, whole.size() / 2, std::size_t{150}, std::size_t{20}, std::size_t{0}}) {
      replace(whole.substr(0, size));
      EXPECT_NE(refusal(), "") << size;
    }
  }
}

TEST_F(QcdFile, WrongAveragesAreRefused) {
  write(Format::nersc, 64);
  std::string bytes = contents();
  const std::size_t at = bytes.find("PLAQUETTE = ");
  bytes.replace(at, 14, "PLAQUETTE = 0.");
  bytes[bytes.find('\n', at) - 1] = '7';
  const std::size_t first = at + 14;
  bytes[first] = bytes[first] == '5' ? '6' : '5';
  replace(bytes);
  EXPECT_NE(refusal().find("its plaquette is"), std::string::npos) << refusal();
}

TEST_F(QcdFile, NonUnitaryLinksAreRefused) {
  try {
    on_grid({1, 1, 2, 1}, small, [&](World& world, const Lattice& lattice, Gauge& gauge) {
      if (lattice.origin()[2] == 2) gauge.links(1)[gauge.index({3, 0, 1, 2})].m[0][0].re += 0.01;
      gauge.exchange();
      write_configuration(world, gauge, path_, Format::ildg, 64);
      read_configuration(world, gauge, path_, inspect_configuration(path_));
    });
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the link at (3, 0, 3, 2) along y is not in SU(3)"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(QcdFile, OfNothingKnownIsRefused) {
  replace("This is not a configuration, whatever its name says.");
  EXPECT_NE(refusal().find("neither a NERSC nor an ILDG configuration"), std::string::npos);
  fs::remove(path_);
  EXPECT_NE(refusal().find("cannot be opened"), std::string::npos);
}

TEST_F(QcdFile, ThatCannotBeWrittenLeavesNothing) {
  path_ = (folder_ / "nowhere" / "links").string();
  EXPECT_THROW(write(Format::nersc, 64, {1, 1, 1, 2}), Error);
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace tca::qcd
