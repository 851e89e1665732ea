// Tests configurations as other programs write them, each made here by what is known of the program, and that
// damage is found in them all the same.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>

#include "own_folder.hpp"
#include "qcd/files/configuration.hpp"
#include "qcd_lab.hpp"
#include "tca/error.hpp"

namespace tca::qcd {
namespace {

using test::on_grid;

constexpr Extents extents{4, 2, 2, 6};
constexpr std::int64_t sites = 4 * 2 * 2 * 6;

// A record of a LIME file. `flags`: 0x8000 begins a message, 0x4000 ends one.
std::string record(const std::string& type, std::string data, unsigned flags = 0) {
  std::string header("\x45\x67\x89\xab\0\1", 6);
  header += {static_cast<char>(flags >> 8), static_cast<char>(flags & 0xff)};
  for (int shift = 56; shift >= 0; shift -= 8) header += static_cast<char>(data.size() >> shift & 0xff);
  header += type;
  header.resize(144, '\0');
  data.resize((data.size() + 7) / 8 * 8, '\0');
  return header + data;
}

constexpr unsigned begins = 0x8000, ends = 0x4000;

class OtherPrograms : public testing::Test {
 protected:
  void SetUp() override {
    doubles_ = written(64);
    floats_ = written(32);
  }

  // What a file says of its links, and the links themselves, big endian and whole.
  struct Links {
    std::string bytes;
    std::string suma, sumb;
    Averages averages;
  };

  // The links as this program writes them. `change` is made to each link before.
  Links written(int bits, const std::function<void(Link&)>& change = {}) {
    Links links;
    on_grid({1, 1, 1, 1}, extents, [&](World& world, const Lattice& lattice, Gauge& gauge) {
      for (int mu = 0; change && mu < dims; ++mu)
        for (std::int64_t s = 0; s < lattice.volume(); ++s)
          change(gauge.links(mu)[gauge.index(lattice.coordinates(s))]);
      gauge.exchange();
      links.averages = gauge.averages();
      write_configuration(world, gauge, path_, Format::ildg, bits);
    });
    const std::string whole = contents();
    const auto bytes = static_cast<std::size_t>(sites * dims * 18 * bits / 8);
    links.bytes = whole.substr(whole.find(std::string("ildg-binary-data\0", 17)) + 128, bytes);
    const auto element = [&](const std::string& name) {
      const std::size_t begin = whole.find("<" + name + ">") + name.size() + 2;
      return whole.substr(begin, whole.find("</", begin) - begin);
    };
    links.suma = element("suma");
    links.sumb = element("sumb");
    return links;
  }

  std::string contents() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  // Reads the file on two ranks. Returns the error, or else nothing.
  std::string refusal(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    try {
      on_grid({1, 1, 1, 2}, extents, [&](World& world, const Lattice& lattice, Gauge& gauge) {
        const auto before = test::gathered(world, lattice, Sites::all, test::reals_of(gauge));
        gauge.randomise(99);
        const Reading reading = read_configuration(world, gauge, path_, inspect_configuration(path_));
        const auto after = test::gathered(world, lattice, Sites::all, test::reals_of(gauge));
        if (world.rank() != 0) return;
        of_single_precision_ = reading.of_single_precision;
        difference_ = test::largest_difference(before, after);
      });
    } catch (const Error& error) {
      return error.what();
    }
    return difference_ < 1e-6 ? "" : fmt::format("the links differ by {}", difference_);
  }

  tca::test::OwnFolder folder_;
  std::string path_ = (folder_ / "links").string();
  Links doubles_, floats_;
  bool of_single_precision_ = false;
  double difference_ = 0;
};

class OtherLimePrograms : public OtherPrograms {
 protected:
  void SetUp() override {
#ifndef OPENTCA_PUGIXML
    GTEST_SKIP() << "without pugixml no ILDG file is read";
#endif
    OtherPrograms::SetUp();
  }
};

constexpr const char* declaration = R"(<?xml version="1.0" encoding="UTF-8"?>)";
constexpr const char* schema =
    "xmlns=\"http://www.lqcd.org/ildg\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
    "xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\"";

// The record ildg-format as most write it: on lines of its own, or all in one, with blanks around numbers or
// none.
std::string format_xml(int bits, const std::string& line = "\n  ", const std::string& blank = "") {
  std::string xml = fmt::format("{}{}<ildgFormat {}>", declaration, line.substr(0, 1), schema);
  const auto add = [&](const char* name, const std::string& text) {
    xml += fmt::format("{}<{}>{}{}{}</{}>", line, name, blank, text, blank, name);
  };
  add("version", "1.0");
  add("field", "su3gauge");
  add("precision", std::to_string(bits));
  constexpr const char* names[]{"lx", "ly", "lz", "lt"};
  for (std::size_t mu = 0; mu < dims; ++mu) add(names[mu], std::to_string(extents[mu]));
  return xml + line.substr(0, 1) + "</ildgFormat>";
}

std::string checksum_xml(const std::string& suma, const std::string& sumb, const std::string& line = "\n  ") {
  return fmt::format(
      "{}{}<scidacChecksum>{}<version>1.0</version>{}<suma>{}</suma>{}<sumb>{}</sumb>{}"
      "</scidacChecksum>",
      declaration, line.substr(0, 1), line, line, suma, line, sumb, line.substr(0, 1));
}

// A text as QIO writes it, with the zero that ends it in C.
std::string in_c(const std::string& text) { return text + '\0'; }

TEST_F(OtherLimePrograms, ThatWriteByQio) {
  for (const Links* links : {&doubles_, &floats_}) {
    const int bits = links == &doubles_ ? 64 : 32;
    const std::string before =
        record("scidac-private-file-xml", in_c("<scidacFile><dims>4 2 2 6 </dims></scidacFile>"), begins) +
        record("scidac-file-xml", in_c("<title>of mine & others"), ends) +
        record("scidac-private-record-xml", in_c("<scidacRecord/>"), begins) +
        record("scidac-record-xml", in_c("<?xml version=\"1.0\"?><info/>"));
    const std::string of_links =
        record("ildg-format", in_c(format_xml(bits, " "))) + record("ildg-binary-data", links->bytes) +
        record("scidac-checksum", in_c(checksum_xml(links->suma, links->sumb, " ")), ends);
    EXPECT_EQ(refusal(before + of_links), "");
    EXPECT_FALSE(of_single_precision_);
    // A message of something else behind it, with data and a checksum of its own.
    EXPECT_EQ(
        refusal(before + of_links + record("scidac-private-record-xml", in_c("<scidacRecord/>"), begins) +
                record("scidac-binary-data", std::string(77, 'x')) +
                record("scidac-checksum", in_c(checksum_xml("1", "2")), ends)),
        "");
  }
}

TEST_F(OtherLimePrograms, ThatWriteByLimeInOrdersOfTheirOwn) {
  const std::string format = record("ildg-format", format_xml(64, "\n  ", " ")),
                    links = record("ildg-binary-data", doubles_.bytes),
                    sums = record("scidac-checksum", checksum_xml(doubles_.suma, doubles_.sumb)),
                    other = record("xlf-info", "plaquette = 0.5\n time = 12"),
                    name = record("ildg-data-lfn", "lfn://a/b");
  EXPECT_EQ(refusal(other + format + links + sums), "");
  EXPECT_EQ(refusal(format + name + links + sums + other + other), "");
  EXPECT_EQ(refusal(sums + links + format), "");
  EXPECT_EQ(refusal(format + links), "");
  // Messages of a record each, or with no beginnings and ends as above.
  const std::string flagged = record("ildg-format", format_xml(64), begins | ends) +
                              record("ildg-binary-data", doubles_.bytes, begins | ends);
  EXPECT_EQ(refusal(flagged + record("scidac-checksum",
                                     checksum_xml("0X" + doubles_.suma, "0x" + doubles_.sumb), ends)),
            "");
  // The last record is not padded.
  const std::string text = checksum_xml(doubles_.suma, doubles_.sumb) + std::string(3, ' ');
  const std::string padded = record("scidac-checksum", text + std::string((9 - text.size() % 8) % 8, ' '));
  EXPECT_EQ(refusal(format + links + padded.substr(0, padded.size() - 7)), "");
}

TEST_F(OtherLimePrograms, WhoseXmlIsWrittenOtherwise) {
  const std::string behind = record("ildg-binary-data", doubles_.bytes) +
                             record("scidac-checksum", checksum_xml(doubles_.suma, doubles_.sumb));
  const auto expect_read = [&](const std::string& xml) {
    EXPECT_EQ(refusal(record("ildg-format", xml) + behind), "") << xml;
  };
  const std::string numbers = "<lt>6</lt><lz>2</lz><ly>2</ly><lx>4</lx>";
  expect_read("<ildgFormat>" + numbers + "<precision>64</precision><field>su3gauge</field></ildgFormat>");
  expect_read(
      "<ns0:ildgFormat xmlns:ns0='http://www.lqcd.org/ildg'><ns0:field>su3gauge</ns0:field>"
      "<ns0:precision>64</ns0:precision><ns0:lx>4</ns0:lx><ns0:ly>2</ns0:ly><ns0:lz>2</ns0:lz>"
      "<ns0:lt>6</ns0:lt></ns0:ildgFormat>");
  expect_read(
      "<ildgFormat><!-- <lx>8</lx> as it was before -->" + numbers +
      "<precision bits='yes'>64</precision><field\n>\n<![CDATA[su3gauge]]>\n</field></ildgFormat>\n\n");
  expect_read("<ildgFormat>" + numbers +
              "<precision>6<!-- bits -->4</precision><field>su&#51;gaug&#x65;</field></ildgFormat>");
  expect_read("\xef\xbb\xbf" + format_xml(64));
  expect_read(format_xml(64) + std::string(100, '\0'));
}

TEST_F(OtherLimePrograms, WhoseRecordsLackSomething) {
  const std::string links = record("ildg-binary-data", doubles_.bytes),
                    other = record("xlf-info", "of no use");
  const auto expect_refused = [&](const std::string& bytes, const std::string& why) {
    const std::string said = refusal(bytes);
    EXPECT_NE(said.find(path_ + ": " + why), std::string::npos) << said << "\nis not\n" << why;
  };
  const std::string format = format_xml(64);
  const auto without = [&](const std::string& part) {
    std::string xml = format;
    return record("ildg-format", xml.erase(xml.find(part), part.size()));
  };
  expect_refused(other + without("<lt>6</lt>") + links, "its record 2 (ildg-format) has no lt");
  expect_refused(without("<field>su3gauge</field>") + links, "its record 1 (ildg-format) has no field");
  expect_refused(without("</ildgFormat>") + links, "its record 1 (ildg-format) is no XML: ");
  expect_refused(record("ildg-format", format + format) + links,
                 "its record 1 (ildg-format) has a second lx");
  expect_refused(
      other + links,
      "a LIME file without a record ildg-format; it has record 1 (xlf-info), record 2 (ildg-binary-data)");
  expect_refused(other + record("ildg-format", format),
                 "a LIME file without a record ildg-binary-data; it has record 1");
  const std::string all = record("ildg-format", format) + links;
  expect_refused(all + record("scidac-checksum", checksum_xml(doubles_.suma, "")),
                 "its record 3 (scidac-checksum) says  for sumb");
  expect_refused(all + record("scidac-checksum", "<scidacChecksum><suma>1</suma></scidacChecksum>"),
                 "its record 3 (scidac-checksum) has no sumb");
}

TEST_F(OtherLimePrograms, WhoseFilesAreDamaged) {
  const std::string format = record("ildg-format", format_xml(64));
  const std::string sums = record("scidac-checksum", checksum_xml(doubles_.suma, doubles_.sumb));
  std::string bytes = doubles_.bytes;
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  EXPECT_NE(refusal(format + record("ildg-binary-data", bytes) + sums).find("damaged: its checksum A"),
            std::string::npos);
  EXPECT_NE(refusal(format + record("ildg-binary-data", doubles_.bytes.substr(8)) + sums)
                .find("its record 2 (ildg-binary-data) has"),
            std::string::npos);
  const std::string whole = format + record("ildg-binary-data", doubles_.bytes) + sums;
  EXPECT_NE(
      refusal(whole.substr(0, whole.size() - sums.size() + 20)).find("cut off: the header of its record 3"),
      std::string::npos);
  EXPECT_NE(
      refusal(whole.substr(0, whole.size() / 2)).find("cut off or damaged: its record 2 (ildg-binary-data)"),
      std::string::npos);
}

// Rounds the reals of a link to single precision.
void round_link(Link& link) {
  for (auto& row : link.m)
    for (auto& element : row)
      element = {static_cast<double>(static_cast<float>(element.re)),
                 static_cast<double>(static_cast<float>(element.im))};
}

TEST_F(OtherLimePrograms, ThatWriteLinksOfSinglePrecisionIn64Bits) {
  const Links rounded = written(64, round_link);
  const std::string format = record("ildg-format", format_xml(64)),
                    links = record("ildg-binary-data", rounded.bytes);
  EXPECT_EQ(refusal(format + links + record("scidac-checksum", checksum_xml(rounded.suma, rounded.sumb))),
            "");
  EXPECT_TRUE(of_single_precision_);
  EXPECT_EQ(refusal(format + links), "") << "without a checksum";
  EXPECT_TRUE(of_single_precision_);
  EXPECT_EQ(refusal(format + record("ildg-binary-data", doubles_.bytes)), "");
  EXPECT_FALSE(of_single_precision_);
}

// What rounding does not explain.
TEST_F(OtherLimePrograms, WhoseLinksAreFurtherOffThanRoundingAre) {
  const auto said_of = [&](const std::function<void(Link&)>& change, bool with_checksum) {
    const Links links = written(64, change);
    std::string bytes = record("ildg-format", format_xml(64)) + record("ildg-binary-data", links.bytes);
    if (with_checksum) bytes += record("scidac-checksum", checksum_xml(links.suma, links.sumb));
    return refusal(bytes);
  };
  const auto scale = [](double by) {
    return [by](Link& link) {
      for (auto& row : link.m)
        for (auto& element : row) element = {by * element.re, by * element.im};
    };
  };
  for (const bool with_checksum : {true, false})
    EXPECT_NE(said_of(scale(1 + 1e-4), with_checksum).find("is not in SU(3)"), std::string::npos);
  // A single link that is off by what single precision might have done, and nothing that vouches for it.
  const auto one_link = [&] {
    return [n = 0, change = scale(1 + 1e-6)](Link& link) mutable {
      if (n++ == 17) change(link);
    };
  };
  EXPECT_NE(said_of(one_link(), false).find("is not in SU(3)"), std::string::npos);
  EXPECT_EQ(said_of(one_link(), true), "");
  EXPECT_TRUE(of_single_precision_);
}

std::string little_endian(std::string bytes, int bits) {
  for (auto at = bytes.begin(); at != bytes.end(); at += bits / 8) std::reverse(at, at + bits / 8);
  return bytes;
}

std::string two_rows(const std::string& bytes, int bits) {
  const auto real = static_cast<std::size_t>(bits / 8);
  std::string rows;
  for (std::size_t at = 0; at < bytes.size(); at += 18 * real) rows += bytes.substr(at, 12 * real);
  return rows;
}

// The sum of the words of 32 bits on a little-endian machine, which is how the links are in its memory.
std::uint32_t sum_of_words(const std::string& big, int bits) {
  const std::string bytes = little_endian(big, bits);
  std::uint32_t sum = 0;
  for (std::size_t at = 0; at < bytes.size(); at += 4) {
    std::uint32_t word = 0;
    for (std::size_t i = 0; i < 4; ++i)
      word |= std::uint32_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
    sum += word;
  }
  return sum;
}

struct NerscCase {
  const char* program;
  const char* header;  // {0}: checksum, {1}: link trace, {2}: plaquette
  int bits, reals;
  bool big;
};

constexpr NerscCase nersc_cases[] = {
    {"CPS",
     "BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE\nSTORAGE_FORMAT = 1.0\nDIMENSION_1 = 4\n"
     "DIMENSION_2 = 2\nDIMENSION_3 = 2\nDIMENSION_4 = 6\nLINK_TRACE = {1:.10g}\nPLAQUETTE  = {2:.10g}\n"
     "BOUNDARY_1 = PERIODIC\nBOUNDARY_4 = ANTIPERIODIC\nCHECKSUM = {0:8x}\nENSEMBLE_ID = a = b\nCREATOR = "
     "RBC\n"
     "FLOATING_POINT = IEEE64BIG\nEND_HEADER\n",
     64, 12, true},
    {"MILC",
     "BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE\nDIMENSION_1 = 4\nDIMENSION_2 = 2\nDIMENSION_3 = 2\nDIMENSION_4 "
     "= 6\n"
     "CHECKSUM = {0:x}\nLINK_TRACE = {1:.10f}\nPLAQUETTE = {2:.10f}\nENSEMBLE_LABEL = x\nMILC_INFO = "
     "-------BEGIN-------\n"
     "gauge.beta 6.5\nMILC_INFO = -------END-------\nFLOATING_POINT = IEEE32\nEND_HEADER\n",
     32, 12, true},
    {"Chroma",
     "BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE\nDIMENSION_1 = 4\nDIMENSION_2 = "
     "2\nDIMENSION_3 = 2\n"
     "DIMENSION_4 = 6\nCHECKSUM = {0:08X}\nLINK_TRACE = {1:.6e}\nPLAQUETTE = {2:.6e}\nBOUNDARY_1 = PERIODIC\n"
     "FLOATING_POINT = IEEE32BIG\nEND_HEADER\n",
     32, 12, true},
    {"Grid",
     "BEGIN_HEADER\nHDR_VERSION = NERSC\nDATATYPE = 4D_SU3_GAUGE_3x3\nSTORAGE_FORMAT = 1.0\nDIMENSION_1 = 4\n"
     "DIMENSION_2 = 2\nDIMENSION_3 = 2\nDIMENSION_4 = 6\nLINK_TRACE = {1:.10g}\nPLAQUETTE  = {2:.10g}\n"
     "CHECKSUM = {0:>10x}\nARCHIVE_DATE = Fri\nFLOATING_POINT = IEEE64BIG\nEND_HEADER\n",
     64, 18, true},
    {"in Python",
     "BEGIN_HEADER\nHDR_VERSION = 1.0\nDATATYPE = 4D_SU3_GAUGE_3x3\nDIMENSION_1 = 4\nDIMENSION_2 = "
     "2\nDIMENSION_3 = 2\n"
     "DIMENSION_4 = 6\nCHECKSUM = 0x{0:x}\nLINK_TRACE = {1}\nPLAQUETTE = {2}\nFLOATING_POINT = "
     "IEEE64LITTLE\nEND_HEADER\n",
     64, 18, false},
    {"of little-endian machines that leave the order out",
     "BEGIN_HEADER\nDATATYPE=4D_SU3_GAUGE_3x3\nDIMENSION_1=4\nDIMENSION_2=2\nDIMENSION_3=2\nDIMENSION_4="
     "6\nCHECKSUM={0:x}\n"
     "LINK_TRACE={1}\nPLAQUETTE={2}\nFLOATING_POINT=IEEE64\nEND_HEADER\n",
     64, 18, false},
    {"with other line ends and blanks",
     "BEGIN_HEADER\r\nDATATYPE\t=  4D_SU3_GAUGE \r\nDIMENSION_1 = 4\r\nDIMENSION_2 = 2\r\nDIMENSION_3 = 2\r\n"
     "DIMENSION_4 = +6\r\nCHECKSUM = {0:x}\r\nFLOATING_POINT = IEEE32LITTLE\r\nEND_HEADER \r\n",
     32, 12, false},
    {"that check nothing",
     "BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE\nDIMENSION_1 = 4\nDIMENSION_2 = 2\nDIMENSION_3 = 2\nDIMENSION_4 "
     "= 6\n"
     "FLOATING_POINT = IEEE32SMALL\nEND_HEADER\n",
     32, 12, false},
};

TEST_F(OtherPrograms, ThatWriteNerscFiles) {
  for (const NerscCase& test : nersc_cases) {
    const Links& links = test.bits == 64 ? doubles_ : floats_;
    const std::string big = test.reals == 18 ? links.bytes : two_rows(links.bytes, test.bits);
    const std::string bytes = test.big ? big : little_endian(big, test.bits);
    const auto file = [&](std::uint32_t sum) {
      return fmt::format(fmt::runtime(test.header), sum, links.averages.link_trace,
                         links.averages.plaquette) +
             bytes;
    };
    const std::uint32_t sum = sum_of_words(big, test.bits);
    EXPECT_EQ(refusal(file(sum)), "") << test.program;
    EXPECT_FALSE(of_single_precision_) << test.program;
    if (std::string(test.header).find("CHECKSUM") == std::string::npos) continue;
    EXPECT_NE(refusal(file(sum + 1)).find("damaged: its checksum is"), std::string::npos) << test.program;
    EXPECT_NE(refusal(file(sum).substr(0, 3000)).find("cut off"), std::string::npos) << test.program;
  }
}

}  // namespace
}  // namespace tca::qcd
