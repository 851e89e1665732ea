// Tests tuning tables: their text, why one may not be used, and how ranks agree on one.
#include "route/tuning.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/fail.hpp"
#include "boot/over_mpi.hpp"
#include "core/world/world_state.hpp"
#include "messages.hpp"
#include "own_folder.hpp"
#include "tca/tca.hpp"
#include "tca/version.hpp"

namespace tca::test {
namespace {

namespace fs = std::filesystem;
using route::Cost;
using route::Distance;
using route::LayoutClass;
using route::Spacing;
using route::TuningTable;

void write(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

constexpr std::int64_t now = 1'800'000'000, day = 86400;

TuningTable small_table() {
  TuningTable table;
  table.origin = {library_version(), route::hardware(), "shm", 2, now};
  // With other costs, pull would never be chosen for a few bytes.
  table.add({"shm", "pull", Distance::near, LayoutClass::block, 0, 0.01, 0, 0.001});
  table.add({"shm", "pull", Distance::far, LayoutClass::block, 0, 0.01, 0, 0.001});
  table.add({"shm", "pull", Distance::self, LayoutClass::block, 0, 0.01, 0, 0.001});
  table.add({"shm", "staged", Distance::near, LayoutClass::block, 0, 0.5, 0, 0.03});
  table.add({"shm", "staged", Distance::near, LayoutClass::block_stride, 512, -0.125, 4.25, 1e-5,
             Spacing::paged_aliased, 256});
  return table;
}

route::TuningNeeds needs() { return {route::hardware(), "shm", library_version(), now}; }

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), by);
}

// Recomputes the checksum, so that the tests also reach the checks behind it.
std::string sealed_again(const std::string& text) {
  std::uint64_t sum = 0xcbf29ce484222325;
  for (const char c : text.substr(text.find('\n') + 1))
    sum = (sum ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return text.substr(0, 12) + fmt::format("{:016x}", sum) + text.substr(28);
}

class TuningTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", folder_.path().c_str(), 1);
    unsetenv("OPENTCA_TUNING");
  }
  void TearDown() override {
    unsetenv("XDG_CACHE_HOME");
    setenv("OPENTCA_TUNING", "off", 1);
  }

  // Returns the channel that 8 bytes to the other rank take in a world of two threads. Keeps what was printed
  // on stderr.
  std::string chosen() {
    std::string channel;
    testing::internal::CaptureStderr();
    World::run_threads(2, [&](World& world) {
      Window<double> window = world.window<double>(2);
      Chain chain = world.chain("word");
      const int other = 1 - world.rank();
      chain.put(window.on(other).at(1), window.at(0), block(1)).expect(other);
      chain.commit();
      const std::string text = chain.explain();
      if (world.rank() == 0)
        channel = text.substr(text.find("shm/"), text.find(' ', text.find("shm/")) - text.find("shm/"));
    });
    said_ = testing::internal::GetCapturedStderr();
    return channel;
  }

  fs::path own_path() const { return route::tuning_path(route::hardware(), "shm"); }

  OwnFolder folder_;
  std::string said_;
};

TEST_F(TuningTest, TextComesBackAsItWas) {
  const TuningTable table = small_table(), again = TuningTable::parse(table.text());
  EXPECT_EQ(again.text(), table.text());
  EXPECT_EQ(again.origin.hardware, route::hardware());
  EXPECT_EQ(again.origin.measured, now);
  ASSERT_EQ(again.all().size(), table.all().size());
  EXPECT_TRUE(again.knows("shm", Distance::far));
  EXPECT_FALSE(again.knows("mpi", Distance::near));
  const Cost piece = again.pieces("shm", "staged").back();
  EXPECT_EQ(piece.layout, LayoutClass::block_stride);
  EXPECT_EQ(piece.spacing, Spacing::paged_aliased);
  EXPECT_EQ(piece.from_run, 256u);
  EXPECT_EQ(piece.from_bytes, 512u);
  EXPECT_DOUBLE_EQ(piece.setup_us, -0.125);
  EXPECT_DOUBLE_EQ(piece.ns_per_run, 4.25);
  EXPECT_DOUBLE_EQ(piece.ns_per_byte, 1e-5);
}

TEST_F(TuningTest, AnOlderTableCompletesANewOne) {
  TuningTable table;
  table.add({"shm", "pull", Distance::near, LayoutClass::block, 0, 9, 0, 0});
  table.complete_from(small_table());
  EXPECT_EQ(table.pieces("shm", "pull").size(), 3u);  // plus those for far and self
  EXPECT_EQ(table.pieces("shm", "pull")[0].setup_us, 9);
  EXPECT_TRUE(table.pieces("shm", "staged").empty());
  TuningTable empty;
  empty.complete_from(small_table());
  EXPECT_EQ(empty.all().size(), small_table().all().size());
}

TEST_F(TuningTest, CutOffAnywhereItIsRefused) {
  const std::string text = small_table().text();
  for (std::size_t length = 0; length < text.size(); ++length)
    EXPECT_THROW(TuningTable::parse(text.substr(0, length)), Error) << length << " bytes";
}

TEST_F(TuningTest, AnyByteChangedItIsRefused) {
  const std::string text = small_table().text();
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char by : {'0', 'x', '\n'}) {
      std::string changed = text;
      if (changed[at] == by) continue;
      changed[at] = by;
      EXPECT_THROW(TuningTable::parse(changed), Error) << "byte " << at;
    }
  }
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"cut off or changed after it was written"},
                      [&] { TuningTable::parse(replaced(text, "0.001", "0.002")); }));
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"does not begin with its checksum"},
                      [&] { TuningTable::parse("a letter\nto somebody else\n"); }));
}

TEST_F(TuningTest, SealedButSenselessTextIsRefusedWithItsLine) {
  const std::string text = small_table().text();
  const auto refused = [&](const std::string& what, const std::string& by,
                           std::initializer_list<std::string_view> why) {
    EXPECT_TRUE(refuses(Errc::invalid_argument, why, [&] {
      TuningTable::parse(sealed_again(replaced(text, what, by)));
    })) << by;
  };
  const auto error_of = [&](const std::string& what, const std::string& by) {
    return caught([&] { TuningTable::parse(sealed_again(replaced(text, what, by))); });
  };
  EXPECT_GT(error_of("\"block\"", "\"bloc\"").fields.line, 1);
  refused("format = 5", "format = 4", {"its format is 4, this library reads 5"});
  refused("format = 5", "", {"`format` is missing"});
  refused("[costs.shm.pull.near]", "[costs.shm.pull.nowhere]", {"line ", "no distance 'nowhere'"});
  refused("\"block\"", "\"bloc\"", {"line ", "no layout 'bloc'"});
  refused("block-stride paged-aliased", "block-stride sparse", {"line ", "no layout 'block-stride sparse'"});
  refused("0.01, 0, 0.001", "0.01, 0", {"line ", "a piece is five numbers"});
  refused("0.01, 0, 0.001", "0.01, 0, nan", {"line ", "not a number"});
  refused("[0, 0, 0.01", "[0, -8, 0.01", {"line ", "not a number of bytes"});
  refused("[costs.shm.pull.near]", "[costs.shm.pull.near", {"line "});
  for (const char* time : {"9223372036854775807", "-1"})
    refused(fmt::format("measured = {}", now), fmt::format("measured = {}", time),
            {"`measured` is no time", time});
}

TEST_F(TuningTest, StaleAndForeignTablesSayWhy) {
  const std::string text = small_table().text();
  const auto refused = [&](route::TuningNeeds other, std::initializer_list<std::string_view> why) {
    EXPECT_TRUE(refuses(Errc::invalid_argument, why, [&] { route::usable_table(text, other); }));
  };
  EXPECT_NO_THROW(route::usable_table(text, needs()));
  route::TuningNeeds other = needs();
  other.hardware = "PEACH2";
  refused(other, {"measured on other hardware", "this is PEACH2"});
  other = needs();
  other.version = "9.9.9";
  refused(other, {"measured with OpenTCA", "this is 9.9.9"});
  other = needs();
  other.fabrics = "shm+mpi";
  refused(other, {"for the fabrics shm, this world has shm+mpi"});
  other = needs();
  other.now = now + 400 * day;
  refused(other, {"measured 400 days ago"});
  other.now = now - 2 * day;
  refused(other, {"in the future"});
}

// Another MPI has other costs, which does not matter to shared memory.
TEST_F(TuningTest, AnMpiThatTakesPartIsNamed) {
  EXPECT_EQ(boot::mpi_of("shm"), "");
  EXPECT_EQ(boot::mpi_of("shm+mpi"), boot::mpi_library());
  EXPECT_EQ(route::software(""), library_version());
  EXPECT_EQ(route::software("Open MPI v4.1.4"), std::string(library_version()) + " and Open MPI v4.1.4");
  route::TuningNeeds other = needs();
  other.version += " and another MPI";
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"measured with OpenTCA", "and another MPI"},
                      [&] { route::usable_table(small_table().text(), other); }));
}

TEST_F(TuningTest, TheNameTellsHardwareAndFabricsApart) {
  const auto name = [](const char* hardware, const char* fabrics) {
    return route::tuning_path(hardware, fabrics).filename().string();
  };
  EXPECT_EQ(route::tuning_path("A", "shm").parent_path(), folder_ / "opentca");
  EXPECT_TRUE(name("AMD EPYC 9654, 192 CPUs", "shm").starts_with("tuning-amd-epyc-9654-"));
  EXPECT_NE(name("AMD EPYC 9654, 192 CPUs", "shm"), name("AMD EPYC 9654, 96 CPUs", "shm"));
  EXPECT_NE(name("A", "shm"), name("A", "shm+mpi"));
  setenv("XDG_CACHE_HOME", "not/absolute", 1);
  EXPECT_EQ(route::tuning_path("A", "shm").string().find("not/absolute"), std::string::npos);
}

TEST_F(TuningTest, ReadingRefusesWhatIsNoTableOfOnesOwn) {
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"cannot be read: No such file"},
                      [&] { route::read_table(folder_ / "nothing", false); }));
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"not a file"}, [&] { route::read_table(folder_, false); }));
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"not a file"}, [&] { route::read_table(pipe, false); }));
  std::ofstream(folder_ / "large") << std::string((1 << 20) + 1, 'x');
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"1048577 bytes, too many"},
                      [&] { route::read_table(folder_ / "large", false); }));
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to somebody else";
  std::ofstream(folder_ / "theirs") << "x";
  ASSERT_EQ(chown((folder_ / "theirs").c_str(), 12345, 12345), 0);
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"belongs to another user (uid 12345)"},
                      [&] { route::read_table(folder_ / "theirs", false); }));
  EXPECT_EQ(route::read_table(folder_ / "theirs", true), "x");
}

class TuningInWorlds : public TuningTest {
 protected:
  void SetUp() override {
    TuningTest::SetUp();
    fs::create_directory(own_path().parent_path());
  }

  // Returns the text of a table measured today.
  static std::string text() {
    TuningTable table = small_table();
    table.origin.measured = std::time(nullptr);
    return table.text();
  }
};

TEST_F(TuningInWorlds, TheUsersTableDecides) {
  EXPECT_EQ(chosen(), "shm/staged");
  EXPECT_EQ(said_, "");
  write(own_path(), text());
  EXPECT_EQ(chosen(), "shm/pull");
  EXPECT_EQ(said_, "");
}

TEST_F(TuningInWorlds, TheEnvironmentNamesAnotherOrNone) {
  write(own_path(), text());
  setenv("OPENTCA_TUNING", "off", 1);
  EXPECT_EQ(chosen(), "shm/staged");
  const fs::path elsewhere = folder_ / "elsewhere.toml";
  setenv("OPENTCA_TUNING", elsewhere.c_str(), 1);
  EXPECT_EQ(chosen(), "shm/staged");
  EXPECT_TRUE(says(said_, {"elsewhere.toml is not used: it cannot be read: No such file", "built-in"}));
  write(elsewhere, text());
  EXPECT_EQ(chosen(), "shm/pull");
  EXPECT_EQ(said_, "");
}

TEST_F(TuningInWorlds, OneThatCannotServeIsToldInOneLineOnce) {
  write(own_path(), replaced(text(), "0.001", "0.002"));
  EXPECT_EQ(chosen(), "shm/staged");
  EXPECT_TRUE(says(
      said_,
      {"opentca: the tuning table " + own_path().string() + " is not used: it was cut off", "tca tune"}));
  EXPECT_EQ(std::count(said_.begin(), said_.end(), '\n'), 1) << said_;
  EXPECT_EQ(chosen(), "shm/staged");
  EXPECT_EQ(said_, "");
}

// A control plane on which the answers of the other ranks are scripted.
class ScriptedControl final : public control::Control {
 public:
  struct Rank {
    std::string version = library_version(), setting = {}, hardware = route::hardware();
  };
  explicit ScriptedControl(std::vector<Rank> others) : others_(std::move(others)) {}

  int rank() const override { return 0; }
  int size() const override { return static_cast<int>(others_.size()) + 1; }
  std::optional<control::Loss> lost(int) override { return {}; }
  void leave(const std::optional<control::Trouble>&) override {}
  base::Cores cores() const override { return base::Cores::enough; }
  std::unique_ptr<control::AllGather> begin_among(const control::Subset&, const base::Blob&) override {
    return nullptr;
  }

 private:
  std::vector<base::Blob> gather(const base::Blob& mine, std::string_view what) override {
    std::vector<base::Blob> all{mine};
    for (const Rank& rank : others_) {
      base::Writer writer;
      writer.put_string(what);
      for (const std::string& text :
           {rank.version, rank.setting, rank.hardware, std::string(), std::string()})
        writer.put_string(text);
      all.push_back(writer.blob());
    }
    return all;
  }

  std::vector<Rank> others_;
};

class PlainFabric final : public fabric::Fabric {
 public:
  std::string_view name() const override { return "shm"; }
  std::span<const std::string_view> protocols() const override { return protocols_; }
  bool reaches(int) const override { return true; }
  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec&) override { return nullptr; }
  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec&) override { return nullptr; }
  void put_now(fabric::Memory&, int, std::uint64_t, std::span<const std::byte>) override {}
  void progress() override {}

 private:
  static constexpr std::string_view protocols_[]{"direct", "pull", "staged"};
};

class Disagreeing : public TuningInWorlds {
 protected:
  route::Costs agree(std::vector<ScriptedControl::Rank> others, const control::Places& places = {}) {
    ScriptedControl control(std::move(others));
    return route::agree_on_costs(control, fabrics_, places, "");
  }

 private:
  std::vector<std::unique_ptr<fabric::Fabric>> fabrics_ = [] {
    std::vector<std::unique_ptr<fabric::Fabric>> one;
    one.push_back(std::make_unique<PlainFabric>());
    return one;
  }();
};

TEST_F(Disagreeing, VersionsAreRefused) {
  EXPECT_TRUE(refuses(Errc::incompatible, {"rank 2 runs OpenTCA 0.0.9, rank 0 ", "the same version"}, [&] {
    agree({{}, {"0.0.9"}});
  }));
}

TEST_F(Disagreeing, SettingsAreRefused) {
  EXPECT_TRUE(refuses(Errc::incompatible,
                      {"OPENTCA_TUNING is 'off' on rank 1, and is not set on rank 0", "every rank the same"},
                      [&] {
                        agree({{library_version(), "off"}});
                      }));
}

// The fabric reaches all ranks, as MPI does.
TEST_F(Disagreeing, RanksOfOtherSubClustersAreFar) {
  const route::Costs costs = agree({{}, {}}, {{{0, 0, 1}}, {{0, 0, 1}}});
  EXPECT_EQ(costs.distance_to(PlainFabric(), 1), Distance::near);
  EXPECT_EQ(costs.distance_to(PlainFabric(), 2), Distance::far);
}

TEST_F(Disagreeing, OtherHardwareUsesRankZerosTableAndIsTold) {
  write(own_path(), text());
  testing::internal::CaptureStderr();
  const route::Costs costs =
      agree({{}, {library_version(), {}, "PEACH2"}, {library_version(), {}, "PEACH3"}});
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(costs.path(), own_path().string());
  EXPECT_TRUE(
      says(said, {"ranks 2, 3 run on other hardware (PEACH2)", own_path().string(), "all ranks use it"}));
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
}

TEST_F(Disagreeing, OtherHardwareIsNothingToTellWithoutATable) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(agree({{library_version(), {}, "PEACH2"}}).path(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(TuningInWorlds, ExplainSaysWhichTable) {
  write(own_path(), text());
  World::run_threads(1, [&](World& world) {
    Chain chain = world.chain("nothing");
    chain.commit();
    EXPECT_TRUE(says(chain.explain(), {"by the table of 20"}));
    EXPECT_EQ(core::WorldState::of(world).costs().path(), own_path().string());
  });
}

}  // namespace
}  // namespace tca::test
