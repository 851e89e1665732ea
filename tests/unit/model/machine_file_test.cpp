// Tests machine files: what is read, and the error for each mistake.
#include "model/machine/machine_file.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

#include "base/data.hpp"
#include "model/machine/machine_table.hpp"
#include "own_folder.hpp"
#include "tca/error.hpp"

namespace tca::net {
namespace {

constexpr std::string_view sources = "sources = { S1 = \"a paper\", fit = \"tca fit\" }\n";

MachineFile file_of(const std::string& text) { return {std::string(sources) + text, "m.toml"}; }

// Returns the error of reading a file with this text, or an empty string.
template <class Read>
std::string error_of(const std::string& text, Read read) {
  try {
    const MachineFile file = file_of(text);
    MachineReading reading(file);
    read(reading.root());
    reading.finish();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return {};
}

std::string error_of_hop(const std::string& text) {
  return error_of(text, [](const MachineTable& root) { root.time("hop"); });
}

TEST(MachineFile, NumbersComeInTheModelsUnits) {
  const MachineFile file = file_of(R"(
hop = { value = 0.35, unit = "us", published = "S1, 5.4" }
window = { value = 32, unit = "KiB", fitted = "fit" }
link = { value = 4, unit = "GB/s", measured = "S1" }
lane = { value = 8, unit = "Gbit/s", measured = "S1" }
peak = { value = 1.3, unit = "Tflop/s", published = "S1" }
ports = { value = 4, published = "S1" }
share = { value = 0.93, fitted = "fit" }
shape = { value = [4, 2, 2], published = "S1" }
mode = "cut-through"
planned = true
)");
  MachineReading reading(file);
  const MachineTable root = reading.root();
  EXPECT_EQ(root.time("hop"), 350'000);
  EXPECT_EQ(root.size("window"), 32768);
  EXPECT_EQ(root.rate("link"), 4e9);
  EXPECT_EQ(root.rate("lane"), 1e9);
  EXPECT_EQ(root.operations("peak"), 1.3e12);
  EXPECT_EQ(root.count("ports", 1, 4), 4);
  EXPECT_EQ(root.fraction("share"), 0.93);
  EXPECT_EQ(root.extents("shape", 64), (std::vector<std::int64_t>{4, 2, 2}));
  EXPECT_EQ(root.word("mode", {"cut-through", "store"}), "cut-through");
  EXPECT_TRUE(root.truth("planned"));
  EXPECT_FALSE(root.has("other"));
  reading.finish();
}

TEST(MachineFile, NumbersAreListedAsWritten) {
  const MachineFile file = file_of("[peach]\nhop = { value = 0.35, unit = \"us\", fitted = \"fit: hop\" }\n");
  MachineReading reading(file);
  reading.root().table("peach").time("hop");
  ASSERT_EQ(reading.numbers().size(), 1u);
  const MachineNumber& number = reading.numbers().front();
  EXPECT_EQ(number.key, "peach/hop");
  EXPECT_EQ(number.value, 0.35);
  EXPECT_EQ(number.unit, "us");
  EXPECT_EQ(number.origin, Origin::fitted);
  EXPECT_EQ(number.source, "fit: hop");
  EXPECT_EQ(to_string(number.place), "m.toml:3:17");
  EXPECT_EQ(number.columns, 4);
}

TEST(MachineFile, OverridesStandInForValues) {
  const MachineFile file = file_of("[peach]\nhop = { value = 0.35, unit = \"us\", fitted = \"fit\" }\n");
  MachineReading reading(file, {{"peach/hop", 0.5}});
  EXPECT_EQ(reading.root().table("peach").time("hop"), 500'000);
}

TEST(MachineFile, MissingNumber) {
  EXPECT_EQ(error_of_hop("name = \"m\"\n"),
            "m.toml:1:1: the file lacks `hop`, a time such as { value = 1, unit = \"ps\", published = "
            "\"SOURCE, where in it\" }");
}

TEST(MachineFile, MisspeltKey) {
  EXPECT_EQ(error_of_hop("hopp = { value = 1, unit = \"us\", published = \"S1\" }\n"),
            "m.toml:2:1: `hopp` means nothing in the file; did you mean `hop`, which is missing?");
}

TEST(MachineFile, KeyThatMeansNothing) {
  const std::string text = "hop = { value = 1, unit = \"us\", published = \"S1\" }\n\nhops = 3\n";
  EXPECT_EQ(error_of_hop(text), "m.toml:4:1: `hops` means nothing in the file; did you mean `hop`?");
}

TEST(MachineFile, NegativeNumber) {
  EXPECT_EQ(error_of_hop("hop = { value = -1, unit = \"us\", published = \"S1\" }\n"),
            "m.toml:2:17: `hop` is -1, and a time cannot be negative");
}

TEST(MachineFile, NumberThatIsNotFinite) {
  EXPECT_EQ(error_of_hop("hop = { value = inf, unit = \"us\", published = \"S1\" }\n"),
            "m.toml:2:17: `hop` is inf, and a time must be finite");
  const MachineFile file = file_of("hop = { value = 1, unit = \"us\", published = \"S1\" }\n");
  for (const double number : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    MachineReading reading(file, {{"hop", number}});
    EXPECT_THROW(reading.root().time("hop"), Error) << number;
  }
}

TEST(MachineFile, TimesThatWouldOverflow) {
  EXPECT_EQ(error_of_hop("hop = { value = 1001, unit = \"s\", published = \"S1\" }\n"),
            "m.toml:2:7: `hop` is 1001 s; the model has times up to 1000 s");
  EXPECT_EQ(error_of_hop("hop = { value = 1000, unit = \"s\", published = \"S1\" }\n"), "");
}

TEST(MachineFile, UnitOfAnotherQuantity) {
  EXPECT_EQ(error_of_hop("hop = { value = 1, unit = \"GB/s\", published = \"S1\" }\n"),
            "m.toml:2:27: `hop` is a time (ps, ns, us, ms, s), and \"GB/s\" is a rate's unit");
}

TEST(MachineFile, UnknownUnit) {
  EXPECT_EQ(error_of_hop("hop = { value = 1, unit = \"usec\", published = \"S1\" }\n"),
            "m.toml:2:27: `hop` is a time (ps, ns, us, ms, s), and \"usec\" is no unit");
}

TEST(MachineFile, MissingUnit) {
  EXPECT_EQ(error_of_hop("hop = { value = 1, published = \"S1\" }\n"),
            "m.toml:2:7: `hop` has no unit; it is a time: ps, ns, us, ms, s");
}

TEST(MachineFile, MissingSource) {
  EXPECT_EQ(error_of_hop("hop = { value = 1, unit = \"us\" }\n"),
            "m.toml:2:7: `hop` has no source: add published, measured or fitted = \"SOURCE, where in it\"");
}

TEST(MachineFile, TwoOrigins) {
  EXPECT_EQ(error_of_hop("hop = { value = 1, unit = \"us\", published = \"S1\", fitted = \"fit\" }\n"),
            "m.toml:2:60: `hop` is either published or fitted");
}

TEST(MachineFile, UnknownSource) {
  EXPECT_EQ(error_of_hop("hop = { value = 1, unit = \"us\", published = \"S9, 5.4\" }\n"),
            "m.toml:2:45: `hop` comes from `S9`, which [sources] does not name");
}

TEST(MachineFile, MisspeltPartOfANumber) {
  EXPECT_EQ(error_of_hop("hop = { value = 1, unit = \"us\", publsihed = \"S1\" }\n"),
            "m.toml:2:33: `publsihed` means nothing in `hop`; did you mean `published`?");
}

TEST(MachineFile, ValueThatIsNoNumber) {
  EXPECT_EQ(error_of_hop("hop = { value = \"1\", unit = \"us\", published = \"S1\" }\n"),
            "m.toml:2:17: `hop` is a time; this is no number");
}

TEST(MachineFile, BareNumber) {
  EXPECT_NE(error_of_hop("hop = 1\n").find("m.toml:2:7: `hop` is a time such as"), std::string::npos);
}

TEST(MachineFile, CountOutOfRange) {
  const auto read = [](const MachineTable& root) { root.count("lanes", 1, 16); };
  EXPECT_EQ(error_of("lanes = { value = 17, published = \"S1\" }\n", read),
            "m.toml:2:9: `lanes` is 17; it can be 1 to 16");
  EXPECT_EQ(error_of("lanes = { value = 1.5, published = \"S1\" }\n", read),
            "m.toml:2:9: `lanes` is 1.5, and must be a whole number");
}

TEST(MachineFile, RateOfNothing) {
  EXPECT_EQ(error_of("link = { value = 0, unit = \"GB/s\", published = \"S1\" }\n",
                     [](const MachineTable& root) { root.rate("link"); }),
            "m.toml:2:8: `link` is 0, and must be more");
}

TEST(MachineFile, WordThatIsNoneOfTheChoices) {
  EXPECT_EQ(error_of("topology = \"rign\"\n",
                     [](const MachineTable& root) {
                       root.word("topology", {"ring", "torus"});
                     }),
            "m.toml:2:12: `topology` is one of ring, torus, not \"rign\"; did you mean \"ring\"?");
}

TEST(MachineFile, NotToml) { EXPECT_EQ(error_of_hop("hop = { value = \n").find("m.toml:2:17: "), 0u); }

// toml++'s own checks fail on these files; see base/toml.hpp.
TEST(MachineFile, TableWithoutAName) {
  EXPECT_EQ(error_of_hop("[=]\n").find("m.toml:2:"), 0u);
  EXPECT_EQ(error_of_hop("[.]\n").find("m.toml:2:"), 0u);
}

TEST(MachineFile, MisspeltTable) {
  EXPECT_EQ(error_of("[paech]\n", [](const MachineTable& root) { root.table("peach"); }),
            "m.toml:2:2: `paech` means nothing in the file; did you mean `peach`, which is missing?");
}

class Extending : public testing::Test {
 protected:
  void SetUp() override { setenv("OPENTCA_MACHINES", folder_.path().c_str(), 1); }
  void TearDown() override { unsetenv("OPENTCA_MACHINES"); }
  void write(const std::string& name, const std::string& text) { std::ofstream(folder_ / name) << text; }

  test::OwnFolder folder_;
};

TEST_F(Extending, AFileReplacesWhatItsParentSays) {
  write("old.toml", std::string(sources) +
                        "[card]\nlink = { value = 34, unit = \"Gbit/s\", published = \"S1\" }\n"
                        "hop = { value = 1, unit = \"us\", fitted = \"fit\" }\n");
  write("new.toml",
        "extends = \"old\"\nsources = { V5 = \"a plan\" }\n[card]\nlink = { value = 45, unit = \"Gbit/s\", "
        "published = \"V5\" }\n");
  const MachineFile file(find_machine("new"));
  MachineReading reading(file);
  const MachineTable card = reading.root().table("card");
  EXPECT_EQ(card.rate("link"), 45e9 / 8);
  EXPECT_EQ(card.time("hop"), 1'000'000);
  reading.finish();
  EXPECT_EQ(reading.numbers()[0].place.file, (folder_ / "new.toml").string());
  EXPECT_EQ(reading.numbers()[0].place.line, 4);
  EXPECT_EQ(reading.numbers()[1].place.file, (folder_ / "old.toml").string());
  EXPECT_EQ(reading.numbers()[1].place.line, 4);
}

// The parent beside the file is taken, however its folder is named, even if another machine elsewhere has the
// same name.
TEST_F(Extending, WhatLiesBesideTheFileComesFirst) {
  std::filesystem::create_directory(folder_ / "own");
  write("base.toml", "title = \"elsewhere\"\n");
  write("own/base.toml", "title = \"beside\"\n");
  for (const char* parent : {"base", "base.toml", "../own/base.toml"}) {
    write("own/child.toml", "extends = \"" + std::string(parent) + "\"\n");
    const MachineFile file(folder_ / "own/child.toml");
    MachineReading reading(file);
    EXPECT_EQ(reading.root().word("title"), "beside") << parent;
  }
}

TEST_F(Extending, AFileMayHaveTheNameOfItsParent) {
  std::filesystem::create_directory(folder_ / "own");
  write("base.toml", "title = \"the parent\"\n");
  write("own/base.toml", "extends = \"base\"\n");
  const MachineFile file(folder_ / "own/base.toml");
  MachineReading reading(file);
  EXPECT_EQ(reading.root().word("title"), "the parent");
}

// The path would get longer with each turn of the cycle.
TEST_F(Extending, ACircleThroughFolders) {
  std::filesystem::create_directory(folder_ / "own");
  write("own/one.toml", "extends = \"../own/two.toml\"\n");
  write("own/two.toml", "extends = \"../own/one.toml\"\n");
  try {
    const MachineFile file(folder_ / "own/one.toml");
    FAIL() << "a cycle was read";
  } catch (const Error& error) {
    EXPECT_TRUE(error.file().ends_with("two.toml")) << error.file();
    EXPECT_EQ(error.line(), 1);
    EXPECT_NE(std::string(error.what()).find("two.toml:1:11: `extends = \"../own/one.toml\"` comes back"),
              std::string::npos)
        << error.what();
  }
}

TEST_F(Extending, AFileThatExtendsItself) {
  write("one.toml", "extends = \"two\"\n");
  write("two.toml", "extends = \"one\"\n");
  try {
    const MachineFile file(find_machine("one"));
    FAIL() << "a cycle was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.what(),
              (folder_ / "two.toml").string() + ":1:11: `extends = \"one\"` comes back to this file");
  }
}

TEST_F(Extending, AMachineThatIsNotThereIsToldWithTheFolders) {
  try {
    find_machine("nobody");
    FAIL() << "a machine was found";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find(" in " + folder_.path().string() + ", "), std::string::npos)
        << error.what();
  }
}

// A program of this build finds the machines of its source tree, whatever else of OpenTCA is installed.
TEST(MachineFolders, AProgramOfThisBuildTakesItsSources) {
  const std::vector<std::filesystem::path> places = base::data_places("machines", "machines");
  ASSERT_EQ(places.size(), 3U);
  EXPECT_TRUE(std::filesystem::exists(places[1] / "ha-pacs-tca.toml")) << places[1];
}

TEST_F(Extending, AParentThatIsNotThere) {
  write("one.toml", "extends = \"nobody\"\n");
  try {
    const MachineFile file(find_machine("one"));
    FAIL() << "a file without its parent was read";
  } catch (const Error& error) {
    EXPECT_NE(
        std::string(error.what()).find("one.toml:1:11: `extends`: there is no machine `nobody`; there are "),
        std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tca::net
