// Tests links: random numbers, updates, and files.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "own_folder.hpp"
#include "qcd/files/configuration.hpp"
#include "qcd/heat_bath.hpp"
#include "qcd/random.hpp"
#include "qcd_lab.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

namespace fs = std::filesystem;
using test::on_grid;
using test::reals_of;
using test::Shape4;
using test::small;

// The expected values are the known answers that come with Random123.
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

// The expected plaquettes are the series for strong coupling, beta/18 + ..., and the value for weak coupling
// on a lattice of this size.
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

// Without pugixml ILDG's files are written, but not read.
std::vector<Format> readable_formats() {
#ifdef OPENTCA_PUGIXML
  return {Format::nersc, Format::ildg};
#else
  return {Format::nersc};
#endif
}

class QcdFile : public testing::Test {
 protected:
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

  tca::test::OwnFolder folder_;
  std::string path_ = (folder_ / "links").string();
};

TEST_F(QcdFile, GoesRoundOnAnyGrid) {
  for (const Format format : readable_formats()) {
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
  for (const Format format : readable_formats()) {
    write(format, 64);
    std::string bytes = contents();
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    replace(bytes);
    EXPECT_NE(refusal().find("damaged: its checksum"), std::string::npos) << refusal();
  }
}

TEST_F(QcdFile, CutOffIsRefused) {
  for (const Format format : readable_formats()) {
    write(format, 32);
    const std::string whole = contents();
    for (const std::size_t size :
         {whole.size() - 8, whole.size() / 2, std::size_t{150}, std::size_t{20}, std::size_t{0}}) {
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
      write_configuration(world, gauge, path_, readable_formats().back(), 64);
      read_configuration(world, gauge, path_, inspect_configuration(path_));
    });
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(path_ + ": the link at (3, 0, 3, 2) along y is not in SU(3)"),
              std::string::npos)
        << error.what();
  }
}

// Returns the errors of two ranks when `damage` has damaged some of their links.
std::array<std::string, 2> said_of_links(const std::function<void(const Lattice&, Gauge&)>& damage) {
  std::array<std::string, 2> said;
  on_grid({1, 1, 2, 1}, small, [&](World& world, const Lattice& lattice, Gauge& gauge) {
    damage(lattice, gauge);
    try {
      gauge.require_unitary(1e-8);
    } catch (const Error& error) {
      said[static_cast<std::size_t>(world.rank())] = error.what();
    }
  });
  return said;
}

void put_number(const Lattice& lattice, Gauge& gauge, std::int64_t site, double number) {
  gauge.links(0)[gauge.index(lattice.coordinates(site))].m[1][2].im = number;
}

TEST(QcdGauge, LinksThatAreNoNumbersAreRefusedWhateverFollows) {
  constexpr std::int64_t last = 127;  // of a rank's sites
  for (const double number : {std::nan(""), std::numeric_limits<double>::infinity(), 1e200}) {
    for (const std::int64_t site : {0, 5, 127}) {
      for (const bool another_behind : {false, true}) {
        const auto [one, other] = said_of_links([&](const Lattice& lattice, Gauge& gauge) {
          if (lattice.rank() != 0) return;
          if (another_behind) put_number(lattice, gauge, last, 3);
          put_number(lattice, gauge, site, number);
        });
        EXPECT_NE(one.find("along x is not in SU(3): it has what is no number, or far too large a one"),
                  std::string::npos)
            << number << " at " << site << ": " << one;
        EXPECT_EQ(other, one);
      }
    }
  }
}

TEST(QcdGauge, OfLinksOnSeveralRanksThatAreNoNumbersTheFirstIsNamed) {
  const auto [one, other] = said_of_links(
      [](const Lattice& lattice, Gauge& gauge) { put_number(lattice, gauge, 0, std::nan("")); });
  EXPECT_NE(one.find("the link at (0, 0, 0, 0) along x"), std::string::npos) << one;
  EXPECT_EQ(other, one);
}

TEST(QcdGauge, LinksThatAreNoNumbersHaveAnInfiniteDistance) {
  for (int a = 0; a < 3; ++a) {
    for (int b = 0; b < 3; ++b) {
      Link link = identity<double>();
      link.m[a][b].re = std::nan("");
      EXPECT_TRUE(std::isinf(distance_from_su3(link))) << a << b;
    }
  }
  EXPECT_EQ(distance_from_su3(identity<double>()), 0);
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
  fs::create_directories(path_);  // the file is written, but cannot be renamed to a path that is a directory
  EXPECT_THROW(write(Format::nersc, 64, {1, 1, 1, 2}), Error);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "nowhere"), {}), 1);
}

TEST_F(QcdFile, KeepsThePermissionsOfTheOneItReplaces) {
  const mode_t before = umask(027);
  const auto mode = [&] { return static_cast<unsigned>(fs::status(path_).permissions()); };
  write(Format::nersc, 64, {1, 1, 1, 2});
  EXPECT_EQ(mode(), 0640U) << "a new one is as the umask has it";
  for (const unsigned other : {0604U, 0400U}) {
    fs::permissions(path_, static_cast<fs::perms>(other));
    write(Format::ildg, 64, {1, 1, 1, 2});
    EXPECT_EQ(mode(), other);
  }
  umask(before);
}

TEST_F(QcdFile, LeavesAloneWhatOthersHaveLeftUnfinished) {
  const std::string other = path_ + ".unfinished";
  std::ofstream(other) << "another's";
  write(Format::nersc, 64);
  std::ifstream file(other);
  std::string found;
  std::getline(file, found);
  EXPECT_EQ(found, "another's");
}

// A file's header, of which the tests change one line at a time.
class QcdHeader : public QcdFile {
 protected:
  void SetUp() override {
    QcdFile::SetUp();
    write(Format::nersc, 64);
    whole_ = contents();
  }
  std::string said_of(const std::string& key) const {
    const std::size_t at = whole_.find("\n" + key + " = ") + key.size() + 4;
    return whole_.substr(at, whole_.find('\n', at) - at);
  }
  std::string with(const std::string& key, const std::string& value) const {
    std::string bytes = whole_;
    const std::size_t at = bytes.find("\n" + key + " = ") + key.size() + 4;
    return bytes.replace(at, bytes.find('\n', at) - at, value);
  }
  void expect_refused(const std::string& key, const std::string& value, const std::string& why) {
    replace(with(key, value));
    EXPECT_NE(refusal().find(why), std::string::npos) << key << " = " << value << ": " << refusal();
  }

  std::string whole_;
};

TEST_F(QcdHeader, MayEndItsLinesEitherWay) {
  const std::string last = "END_HEADER\n";
  const std::size_t end = whole_.find(last) + last.size();
  std::string header;
  for (const char c : whole_.substr(0, end)) header += c == '\n' ? std::string("\r\n") : std::string(1, c);
  replace(header + whole_.substr(end));
  EXPECT_EQ(refusal(), "");
  EXPECT_LT(difference_after_reading({1, 1, 1, 1}), 1e-14);
}

TEST_F(QcdHeader, NumbersThatAreNoneAreRefused) {
  expect_refused("DIMENSION_1", "4x", "its NERSC header says 4x for DIMENSION_1, which is no whole number");
  expect_refused("DIMENSION_4", "4.0", "says 4.0 for DIMENSION_4, which is no whole number");
  expect_refused("DIMENSION_2", "", "for DIMENSION_2, which is no whole number");
  expect_refused("PLAQUETTE", said_of("PLAQUETTE") + "D+00", "D+00 for PLAQUETTE, which is no number");
  expect_refused("LINK_TRACE", "nan", "says nan for LINK_TRACE, which is no number");
  const std::string sum = said_of("CHECKSUM");
  expect_refused("CHECKSUM", sum + "g", "g for CHECKSUM, which is no hexadecimal number of 32 bits");
  const std::string nine = "1" + std::string(8 - sum.size(), '0') + sum;
  expect_refused("CHECKSUM", nine,
                 "says " + nine + " for CHECKSUM, which is no hexadecimal number of 32 bits");
  for (const std::string& same : {"0x" + sum, std::string(12, '0') + sum}) {
    replace(with("CHECKSUM", same));
    EXPECT_EQ(refusal(), "") << same;
  }
}

TEST_F(QcdHeader, LinesOfWhichThereIsOneAreRefusedTwice) {
  for (const char* key : {"CHECKSUM", "PLAQUETTE", "DIMENSION_2", "DATATYPE"})
    expect_refused(key, said_of(key) + "\n" + key + " = 1", std::string("has a second ") + key);
  replace(with("CREATOR", "somebody\nCREATOR = somebody else"));
  EXPECT_EQ(refusal(), "") << "nobody asks for it";
}

TEST_F(QcdHeader, AveragesAreComparedToTheDigitsThatTheyHave) {
  const double plaquette = std::stod(said_of("PLAQUETTE"));
  for (const char* format : {"{:.6f}", "{:.5e}", "{:.12f}"}) {
    replace(with("PLAQUETTE", fmt::format(fmt::runtime(format), plaquette)));
    EXPECT_EQ(refusal(), "") << format;
    replace(with("PLAQUETTE", fmt::format(fmt::runtime(format), plaquette + 2e-6)));
    EXPECT_NE(refusal().find("its plaquette is"), std::string::npos) << format;
  }
}

TEST_F(QcdHeader, KindsThatAreUnknownAreRefused) {
  for (const char* kind : {"IEEE64LIT", "IEEE6", "IEEE64 BIG", "IEEE128"})
    expect_refused("FLOATING_POINT", kind, std::string("FLOATING_POINT is ") + kind);
  for (const char* kind : {"4D_SU2_GAUGE", "4D_SU3_GAUGE_3x3x3"})
    expect_refused("DATATYPE", kind, std::string("DATATYPE is ") + kind);
  replace(with("FLOATING_POINT", "IEEE64"));
  EXPECT_EQ(refusal(), "") << "big endian by custom";
}

TEST_F(QcdHeader, OfWholeLinksIsSpelledEitherWay) {
  for (const char* kind : {"4D_SU3_GAUGE_3x3", "4D_SU3_GAUGE_3X3"}) {
    const std::string links(std::size_t{4} * 4 * 4 * 4 * 4 * (18 - 12) * 8, '\0');
    replace(with("DATATYPE", kind) + links);
    EXPECT_EQ(inspect_configuration(path_).link_reals, 18) << kind;
  }
}

// An ILDG file of four records: ildg-format, opentca-averages, ildg-binary-data and scidac-checksum.
class QcdRecords : public QcdFile {
 protected:
  void SetUp() override {
#ifndef OPENTCA_PUGIXML
    GTEST_SKIP() << "without pugixml no ILDG file is read";
#endif
    QcdFile::SetUp();
    write(Format::ildg, 64);
    whole_ = contents();
  }
  // Returns where a record begins. Its type follows after 16 bytes.
  std::size_t record(const std::string& type) const { return whole_.find(type + std::string(1, '\0')) - 16; }
  void expect_refused(const std::string& bytes, const std::string& why) {
    replace(bytes);
    EXPECT_NE(refusal().find(why), std::string::npos) << refusal();
  }
  std::string with(const std::string& from, const std::string& to) const {
    std::string bytes = whole_;
    return bytes.replace(bytes.find(from), to.size(), to);
  }

  std::string whole_;
};

TEST_F(QcdRecords, OfAKindThatThereIsOneOf) {
  const std::size_t averages = record("opentca-averages"), links = record("ildg-binary-data"),
                    sums = record("scidac-checksum");
  expect_refused(whole_ + whole_.substr(sums), "its record 5 is a second scidac-checksum");
  expect_refused(whole_.substr(0, averages) + whole_, "its record 2 is a second ildg-format");
  expect_refused(whole_.substr(0, sums) + whole_.substr(links), "its record 4 is a second ildg-binary-data");
  expect_refused(whole_.substr(0, links) + whole_.substr(averages),
                 "its record 3 is a second opentca-averages");
  // Records that this program does not read may occur any number of times.
  std::string other = whole_.substr(sums);
  other.replace(16, 6, "others");
  replace(whole_ + other + other);
  EXPECT_EQ(refusal(), "");
}

TEST_F(QcdRecords, LongerThanANumberHoldsAreRefused) {
  std::string bytes = whole_;
  bytes.replace(record("scidac-checksum") + 8, 8, std::string(7, '\xff') + '\xf8');
  expect_refused(bytes, "its record 4 (scidac-checksum) has 18446744073709551608 bytes, ");
}

TEST_F(QcdRecords, OfTextsThatAreFarTooLongAreRefused) {
  for (const auto& [number, type] : {std::pair(1, "ildg-format"), std::pair(4, "scidac-checksum")}) {
    // The text ends in 1 MiB of blanks.
    std::string bytes = whole_;
    const std::size_t begin = record(type), text = begin + 144, end = bytes.find('\0', text);
    bytes.insert(end, std::string(std::size_t{1} << 20, ' '));
    bytes[begin + 13] = static_cast<char>(bytes[begin + 13] | 0x10);
    expect_refused(bytes, fmt::format("its record {} ({}) has 10", number, type));
  }
}

TEST_F(QcdRecords, WithHeadersOfSomethingElseAreRefused) {
  expect_refused(with("<field>su3gauge", "<field>su2gauge"),
                 "its record 1 (ildg-format) says field su2gauge");
  expect_refused(with("<lx>4<", "<lx>x<"),
                 "its record 1 (ildg-format) says x for lx, which is no whole number");
  const std::size_t end = whole_.find("</suma>");
  std::string bytes = whole_;
  bytes[end - 1] = 'g';
  expect_refused(bytes, "g for suma, which is no hexadecimal number of 32 bits");
}

}  // namespace
}  // namespace tca::qcd
