// Tests the route: cost tables, the choice of a channel, how to override it, and how it is explained.
#include <cstdlib>

#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "boot/bring_up.hpp"
#include "messages.hpp"
#include "route/choose.hpp"
#include "route/cost_table.hpp"

namespace tca::test {
namespace {

using base::Shape;
using route::Distance;
using route::LayoutClass;

// A fabric with a name and protocols that reaches all ranks but one.
class NamedFabric final : public fabric::Fabric, public fabric::Pricing {
 public:
  NamedFabric(std::string_view name, std::vector<std::string_view> protocols, int unreachable = -1)
      : name_(name), protocols_(std::move(protocols)), unreachable_(unreachable) {}
  std::string_view name() const override { return name_; }
  std::span<const std::string_view> protocols() const override { return protocols_; }
  bool reaches(int rank) const override { return rank != unreachable_; }
  bool carries_counted(int protocol) const override { return protocol == counted; }
  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec&) override { return nullptr; }
  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec&) override { return nullptr; }
  void put_now(fabric::Memory&, int, std::uint64_t, std::span<const std::byte>) override {}
  void progress() override {}
  const fabric::Pricing& pricing() const override { return *this; }
  double cache_line_transfer_ns() const override { return crossing; }
  bool accepts(int protocol, const Shape& shape, fabric::RoomUsed used) const override {
    return protocol != full && used.total + shape.bytes() <= room &&
           used.to_rank + shape.bytes() <= room_at_rank;
  }

  double crossing = 0;
  int full = -1;                                                   // the protocol that has no room left
  int counted = -1;                                                // the protocol that carries counted puts
  std::uint64_t room = std::numeric_limits<std::uint64_t>::max();  // of each protocol, for a chain
  std::uint64_t room_at_rank = room;  // of each protocol, for a chain's puts to one rank

 private:
  std::string_view name_;
  std::vector<std::string_view> protocols_;
  int unreachable_;
};

class RouteTest : public testing::Test {
 protected:
  RouteTest() {
    fabrics.push_back(
        std::make_unique<NamedFabric>("shm", std::vector<std::string_view>{"direct", "pull", "staged"}, 7));
    fabrics.push_back(std::make_unique<NamedFabric>("odd", std::vector<std::string_view>{"first", "second"}));
  }
  std::string explained(const route::Put& put, route::Choice choice, const std::string& forced) const {
    const route::Explained why = route::explain(fabrics, costs, put, choice, forced);
    return fmt::format("{}, {} ({})", why.channel, why.predicted, why.reason);
  }
  std::string chosen(int target, const Shape& shape, const std::string& asked = {},
                     std::size_t puts = 1) const {
    const route::Choice choice = route::choose(fabrics, costs, {target, shape, puts}, asked);
    const fabric::Fabric& fabric = *fabrics[static_cast<std::size_t>(choice.fabric)];
    return fmt::format("{}/{}", fabric.name(), fabric.protocols()[static_cast<std::size_t>(choice.protocol)]);
  }
  std::vector<std::unique_ptr<fabric::Fabric>> fabrics;
  route::Costs costs{5};  // this is rank 5's world
  const Shape word = base::pair_up(block(1), block(1), 8);
  const Shape mebibytes = base::pair_up(block(4 << 20), block(4 << 20), 8);
};

TEST_F(RouteTest, LayoutClasses) {
  const auto classify = [](const Layout& layout, std::size_t bytes) {
    return route::classify(base::pair_up(layout, layout, bytes));
  };
  EXPECT_EQ(classify(block(100), 8), LayoutClass::block);
  EXPECT_EQ(classify(stride(100, 2), 8), LayoutClass::stride);
  EXPECT_EQ(classify(block_stride(10, 7, 100), 8), LayoutClass::stride);
  EXPECT_EQ(classify(block_stride(10, 8, 100), 8), LayoutClass::block_stride);
  EXPECT_EQ(classify(subarray({9, 9, 9}, {1, 1, 1}, {3, 3, 3}), 8), LayoutClass::subarray);
  EXPECT_EQ(classify(subarray({9, 9, 19}, {1, 1, 1}, {3, 3, 16}), 8), LayoutClass::block_stride);
  EXPECT_EQ(route::to_string(LayoutClass::subarray), "sub-array");
}

TEST_F(RouteTest, CostsComeInPieces) {
  const route::Cost table[]{{"f", "p", Distance::near, LayoutClass::block, 0, 1, 0, 1},
                            {"f", "p", Distance::near, LayoutClass::block, 1000, 2, 0, 0.5},
                            {"f", "q", Distance::near, LayoutClass::block, 0, 9, 9, 9},
                            {"f", "p", Distance::far, LayoutClass::block, 0, 3, 0, 1}};
  const auto find = [&](const char* protocol, const Shape& shape, Distance distance = Distance::near) {
    return route::find_cost(table, "f", protocol, distance, shape, 1);
  };
  const Shape below = base::pair_up(block(999), block(999), 1),
              at = base::pair_up(block(1000), block(1000), 1);
  EXPECT_EQ(find("p", below), &table[0]);
  EXPECT_EQ(find("p", at), &table[1]);
  EXPECT_EQ(find("q", at), &table[2]);
  EXPECT_EQ(find("p", at, Distance::far), &table[3]);
  EXPECT_EQ(find("unknown", at), nullptr);
  EXPECT_EQ(find("p", base::pair_up(stride(5, 2), stride(5, 2), 1)), nullptr);
  EXPECT_DOUBLE_EQ(table[1].predict_us(at), 2 + 1000 * 0.5e-3);
}

TEST_F(RouteTest, SpacingsAreThoseOfTheWorseSide) {
  using route::Spacing;
  const auto spacing = [](std::int64_t to, std::int64_t from) {
    return route::spacing(base::pair_up(stride(5, to), stride(5, from), 8));
  };
  EXPECT_EQ(route::spacing(word), Spacing::dense);
  EXPECT_EQ(spacing(2, 2), Spacing::dense);
  EXPECT_EQ(spacing(3, 3), Spacing::dense);
  EXPECT_EQ(spacing(4, 4), Spacing::close);
  EXPECT_EQ(spacing(5, 5), Spacing::close);
  EXPECT_EQ(spacing(7, 5), Spacing::close);
  EXPECT_EQ(spacing(8, 8), Spacing::spread);
  EXPECT_EQ(spacing(31, 31), Spacing::spread);
  EXPECT_EQ(spacing(33, 33), Spacing::wide);
  EXPECT_EQ(spacing(40, 40), Spacing::wide_aligned);  // at the same place of every fifth line
  EXPECT_EQ(spacing(33, 40), Spacing::wide_aligned);
  EXPECT_EQ(spacing(24, 24), Spacing::spread);
  const auto of_lines = [](std::int64_t run, std::int64_t pitch) {
    const Layout layout = block_stride(3, run, pitch);
    return route::spacing(base::pair_up(layout, layout, 8));
  };
  EXPECT_EQ(of_lines(64, 71), Spacing::dense);
  EXPECT_EQ(of_lines(64, 72), Spacing::spread);
  EXPECT_EQ(of_lines(64, 80), Spacing::spread);
  EXPECT_EQ(of_lines(600, 604), Spacing::dense);
  EXPECT_EQ(of_lines(600, 609), Spacing::paged);
  EXPECT_EQ(spacing(64, 64), Spacing::aliased);
  EXPECT_EQ(spacing(520, 520), Spacing::paged);
  EXPECT_EQ(spacing(1024, 1024), Spacing::paged_aliased);
  EXPECT_EQ(spacing(2, 1024), Spacing::paged_aliased);
  EXPECT_EQ(spacing(9, 2), Spacing::spread);
}

TEST_F(RouteTest, APieceForASpacingComesBeforeOneForAnyAndLongerRunsBeforeShorter) {
  using route::Spacing;
  const auto piece = [](double us, Spacing spacing, std::uint64_t from_run, std::uint64_t from_bytes = 0) {
    return route::Cost{"f", "p",     Distance::near, LayoutClass::block_stride, from_bytes, us, 0,
                       0,   spacing, from_run};
  };
  const route::Cost table[]{piece(1, Spacing::any, 0), piece(2, Spacing::any, 256, 4096),
                            piece(3, Spacing::spread, 0), piece(4, Spacing::spread, 256),
                            piece(5, Spacing::spread, 256, 65536)};
  const auto us = [&](std::int64_t runs, std::int64_t run, std::int64_t pitch) {
    const Layout layout = block_stride(runs, run, pitch);
    const Shape shape = base::pair_up(layout, layout, 1);
    const route::Cost* cost = route::find_cost(table, "f", "p", Distance::near, shape, 1);
    return cost != nullptr ? cost->setup_us : 0;
  };
  EXPECT_EQ(us(4, 64, 512), 1);
  EXPECT_EQ(us(4, 256, 512), 1);
  EXPECT_EQ(us(16, 256, 512), 2);
  EXPECT_EQ(us(4, 64, 576), 3);
  EXPECT_EQ(us(4, 256, 576), 4);
  EXPECT_EQ(us(256, 256, 576), 5);
}

TEST_F(RouteTest, ACostIsNeverNegative) {
  EXPECT_EQ((route::Cost{"f", "p", Distance::near, LayoutClass::block, 0, -1, 0, 0.5}.predict_us(word)), 0);
}

TEST_F(RouteTest, AMeasuredTableDecidesWhereItKnowsTheFabricAtThatDistance) {
  route::TuningTable table;
  table.add({"shm", "pull", Distance::near, LayoutClass::block, 0, 1, 0, 0});
  table.add({"shm", "direct", Distance::near, LayoutClass::block, 0, 2, 0, 0});
  costs.use(std::move(table), "/somewhere");
  EXPECT_EQ(chosen(0, word), "shm/pull");  // the table lacks staged, so its cost is unknown
  EXPECT_EQ(chosen(0, mebibytes), "shm/pull");
  EXPECT_EQ(chosen(5, mebibytes), "shm/direct");  // to itself: by the built-in costs
  static_cast<NamedFabric&>(*fabrics[0]).crossing = 140;
  EXPECT_EQ(chosen(0, mebibytes), "shm/direct");
}

TEST_F(RouteTest, OfChannelsThatATableSaysAreAsGoodTheFirstIsTaken) {
  const auto with = [&](double direct_us) {
    route::TuningTable table;
    table.add({"shm", "direct", Distance::near, LayoutClass::block, 0, direct_us, 0, 0});
    table.add({"shm", "staged", Distance::near, LayoutClass::block, 0, 1, 0, 0});
    costs.use(std::move(table), "/somewhere");
  };
  with(1.04);
  EXPECT_EQ(chosen(0, word), "shm/direct");
  EXPECT_TRUE(says(explained({0, word}, {0, 0}, {}), {"1.04 us", "as good as shm/staged 1.00"}));
  with(1.06);
  EXPECT_EQ(chosen(0, word), "shm/staged");
}

TEST_F(RouteTest, RanksOfASubClusterAreNearOthersFarWhereNoCrossingIsMeasured) {
  const route::Costs world(1, {{4, 4, 7, 7}});
  EXPECT_EQ(world.distance_to(*fabrics[1], 0), Distance::near);
  EXPECT_EQ(world.distance_to(*fabrics[1], 1), Distance::self);
  EXPECT_EQ(world.distance_to(*fabrics[1], 2), Distance::far);
  EXPECT_EQ(world.distance_between(*fabrics[1], 3, 2), Distance::near);
  EXPECT_EQ(world.distance_between(*fabrics[1], 3, 0), Distance::far);
  static_cast<NamedFabric&>(*fabrics[1]).crossing = 60;
  EXPECT_EQ(world.distance_to(*fabrics[1], 2), Distance::near);
}

TEST_F(RouteTest, EveryChannelOfShmHasACostForEveryLayout) {
  const Shape shapes[]{word, base::pair_up(stride(5, 2), block(5), 8),
                       base::pair_up(block_stride(5, 64, 99), block(320), 8),
                       base::pair_up(subarray({5, 5, 5}, {0, 0, 0}, {2, 2, 2}), block(8), 8)};
  for (const Shape& shape : shapes) {
    for (const char* protocol : {"direct", "pull", "staged"}) {
      for (const Distance distance : {Distance::near, Distance::far}) {
        EXPECT_NE(route::find_cost(route::builtin_costs(), "shm", protocol, distance, shape, 1), nullptr)
            << protocol;
      }
    }
  }
}

TEST(Processors, AreToldByWhatTheHardwareSays) {
  using route::Processor, route::processor_of;
  EXPECT_EQ(processor_of("AMD EPYC, family 25 model 17 stepping 1, 2 CPUs"), Processor::zen4);
  EXPECT_EQ(processor_of("AMD EPYC 9754 128-Core Processor, family 25 model 160 stepping 2"),
            Processor::zen4);
  EXPECT_EQ(processor_of("AMD EPYC 7763 64-Core Processor, family 25 model 1 stepping 1"), Processor::zen3);
  EXPECT_EQ(processor_of("AMD EPYC, family 26 model 2 stepping 1, 2 CPUs"), Processor::other);
  EXPECT_EQ(processor_of("Intel(R) Xeon(R) Processor, family 6 model 167 stepping 1"), Processor::xeon);
  EXPECT_EQ(processor_of("aarch64, implementer 0x41 part 0xd4f"), Processor::other);
}

// Puts of the strided faces of cubes of 128^3 and 32^3 doubles, and of the rows of a cube of 128^3.
TEST_F(RouteTest, KnowsWhatAProcessorIsBadAt) {
  const Shape large = base::pair_up(stride(16384, 128), stride(16384, 128), 8);
  const Shape small = base::pair_up(stride(1024, 32), stride(1024, 32), 8);
  static_cast<NamedFabric&>(*fabrics[0]).crossing = 140;
  EXPECT_EQ(chosen(0, large), "shm/staged");
  costs.assume(route::Processor::xeon);
  EXPECT_EQ(chosen(0, large), "shm/pull");
  EXPECT_EQ(chosen(0, small), "shm/staged");

  const Shape rows = base::pair_up(block_stride(128, 128, 16384), block_stride(128, 128, 16384), 8);
  static_cast<NamedFabric&>(*fabrics[0]).crossing = 60;
  const Shape plane = base::pair_up(block(16384), block(16384), 8);
  costs.assume(route::Processor::other);
  EXPECT_EQ(chosen(0, rows), "shm/direct");
  EXPECT_EQ(chosen(0, large), "shm/pull");
  EXPECT_EQ(chosen(0, plane, {}, 2), "shm/direct");
  const Shape few_rows = base::pair_up(block_stride(64, 64, 4096), block_stride(64, 64, 4096), 8);
  EXPECT_EQ(chosen(0, few_rows), "shm/pull");
  costs.assume(route::Processor::zen3);
  EXPECT_EQ(chosen(0, few_rows), "shm/direct");
  EXPECT_EQ(chosen(0, rows), "shm/direct");
  const Shape small_plane = base::pair_up(block(4096), block(4096), 8);
  static_cast<NamedFabric&>(*fabrics[0]).crossing = 250;
  EXPECT_EQ(chosen(0, few_rows), "shm/staged");
  EXPECT_EQ(chosen(0, rows), "shm/direct");
  EXPECT_EQ(chosen(0, small_plane, {}, 2), "shm/direct");
  static_cast<NamedFabric&>(*fabrics[0]).crossing = 60;
  EXPECT_EQ(chosen(0, large), "shm/staged");
  costs.assume(route::Processor::zen4);
  EXPECT_EQ(chosen(0, rows), "shm/staged");
  EXPECT_EQ(chosen(0, large), "shm/staged");
  EXPECT_EQ(chosen(0, plane, {}, 2), "shm/staged");
  EXPECT_EQ(chosen(0, plane), "shm/direct");
}

TEST_F(RouteTest, StagesRowsOnXeonsButForShortFaces) {
  const auto rows_of_cube = [](std::int64_t n) {
    const Layout layout = block_stride(n, n, n * n);
    return base::pair_up(layout, layout, 8);
  };
  static_cast<NamedFabric&>(*fabrics[0]).crossing = 190;
  costs.assume(route::Processor::xeon);
  EXPECT_EQ(chosen(0, rows_of_cube(32), {}, 2), "shm/pull");
  EXPECT_EQ(chosen(0, rows_of_cube(64), {}, 2), "shm/staged");
  EXPECT_EQ(chosen(0, rows_of_cube(128), {}, 2), "shm/staged");
}

TEST_F(RouteTest, WeighsWhatPutsToTheSameRankShare) {
  const Shape face = base::pair_up(block(4096), block(4096), 8), few = base::pair_up(block(64), block(64), 8);
  static_cast<NamedFabric&>(*fabrics[0]).crossing = 140;
  EXPECT_EQ(chosen(0, few, {}, 1), "shm/staged");
  EXPECT_EQ(chosen(0, face, {}, 1), "shm/direct");
  EXPECT_EQ(chosen(0, face, {}, 2), "shm/staged");
}

TEST_F(RouteTest, TakesTheCheapest) {
  EXPECT_EQ(chosen(0, word), "shm/staged");
  EXPECT_EQ(chosen(0, mebibytes), "shm/direct");
}

// A face of 64 rows of 512 bytes: packing it pays only where cache lines take long to cross.
TEST_F(RouteTest, WeighsHowFarTheRanksAre) {
  const Shape face = base::pair_up(block_stride(64, 64, 4096), block_stride(64, 64, 4096), 8);
  EXPECT_EQ(chosen(0, face), "shm/pull");
  static_cast<NamedFabric&>(*fabrics[0]).crossing = 140;
  EXPECT_EQ(chosen(0, face), "shm/staged");
}

// Only 8 bytes of each of its cache lines are needed.
TEST_F(RouteTest, PacksAStridedFaceAnywhere) {
  const Shape face = base::pair_up(stride(4096, 64), stride(4096, 64), 8);
  EXPECT_EQ(chosen(0, face), "shm/staged");
  static_cast<NamedFabric&>(*fabrics[0]).crossing = 140;
  EXPECT_EQ(chosen(0, face), "shm/staged");
}

TEST_F(RouteTest, TakesTheNextBestWhereTheBestHasNoRoom) {
  static_cast<NamedFabric&>(*fabrics[0]).full = 2;
  EXPECT_EQ(chosen(0, word), "shm/pull");
  EXPECT_EQ(chosen(0, word, "staged"), "shm/staged");
}

TEST_F(RouteTest, CountedPutsTakeAChannelThatCarriesThem) {
  const route::Put put{.target = 0, .shape = word, .counted = true};
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"no channel carries counted puts to rank 0"},
                      [&] { route::choose(fabrics, costs, put, {}); }));
  static_cast<NamedFabric&>(*fabrics[0]).counted = 1;
  EXPECT_EQ(route::choose(fabrics, costs, put, {}).protocol, 1);
  EXPECT_TRUE(
      refuses(Errc::invalid_argument,
              {"'direct' is none of the channels that carry counted puts to rank 0, which are shm/pull"},
              [&] { route::choose(fabrics, costs, put, "direct"); }));
}

TEST_F(RouteTest, CountsWhatAChainHasTakenAlready) {
  auto& shm = static_cast<NamedFabric&>(*fabrics[0]);
  shm.room = 2 * word.bytes();
  route::Taken taken;
  const auto next = [&] {
    const route::Choice choice = route::choose(fabrics, costs, {0, word}, {}, taken);
    taken.add(shm, choice.protocol, 0, word);
    return shm.protocols()[static_cast<std::size_t>(choice.protocol)];
  };
  EXPECT_EQ(next(), "staged");
  EXPECT_EQ(next(), "staged");
  EXPECT_EQ(next(), "pull");
}

TEST_F(RouteTest, CountsWhatAChainHasTakenAtEachRank) {
  auto& shm = static_cast<NamedFabric&>(*fabrics[0]);
  shm.room_at_rank = word.bytes();
  route::Taken taken;
  const auto next = [&](int rank) {
    const route::Choice choice = route::choose(fabrics, costs, {rank, word}, {}, taken);
    taken.add(shm, choice.protocol, rank, word);
    return shm.protocols()[static_cast<std::size_t>(choice.protocol)];
  };
  EXPECT_EQ(next(1), "staged");
  EXPECT_EQ(next(2), "staged");
  EXPECT_EQ(next(1), "pull");
}

TEST_F(RouteTest, TakesAChannelWithoutACostOnlyWhereThereIsNoOther) {
  EXPECT_EQ(chosen(7, word), "odd/first");
}

TEST_F(RouteTest, AnOverrideNamesFabricProtocolOrBoth) {
  EXPECT_EQ(chosen(0, word, "pull"), "shm/pull");
  EXPECT_EQ(chosen(0, word, "shm/direct"), "shm/direct");
  EXPECT_EQ(chosen(0, word, "odd"), "odd/first");
  EXPECT_EQ(chosen(0, word, "second"), "odd/second");
}

TEST_F(RouteTest, AnUnknownOverrideIsToldTheKnownOnes) {
  EXPECT_TRUE(refuses(Errc::invalid_argument,
                      {"channel 'stagged' is none of the channels that reach rank 3", "shm/direct",
                       "shm/pull", "shm/staged", "odd/first", "odd/second"},
                      [&] { chosen(3, word, "stagged"); }));
  setenv("OPENTCA_CHANNEL", "stagged", 1);
  EXPECT_TRUE(refuses(Errc::invalid_argument,
                      {"OPENTCA_CHANNEL=stagged is none of the channels that reach rank 3"},
                      [&] { chosen(3, word, route::effective_override("direct")); }));
  unsetenv("OPENTCA_CHANNEL");
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"reach rank 7, which are odd/first, odd/second"},
                      [&] { chosen(7, word, "shm/direct"); }));
}

TEST_F(RouteTest, TheEnvironmentWins) {
  EXPECT_EQ(route::effective_override("pull"), "pull");
  setenv("OPENTCA_CHANNEL", "shm/staged", 1);
  EXPECT_EQ(route::effective_override("pull"), "shm/staged");
  setenv("OPENTCA_CHANNEL", "", 1);
  EXPECT_EQ(route::effective_override("pull"), "pull");
  unsetenv("OPENTCA_CHANNEL");
}

TEST(Environment, WhatIsSetToNothingIsNotSet) {
  setenv("OPENTCA_TIME_LIMIT", "2.5", 1);
  EXPECT_EQ(boot::read_environment().time_limit, std::chrono::milliseconds(2500));
  for (const char* variable : {"OPENTCA_TIME_LIMIT", "OPENTCA_PROGRESS_THREAD"}) setenv(variable, "", 1);
  const boot::Environment environment = boot::read_environment();
  EXPECT_FALSE(environment.time_limit || environment.progress_thread);
  for (const char* variable : {"OPENTCA_TIME_LIMIT", "OPENTCA_PROGRESS_THREAD"}) unsetenv(variable);
}

TEST(Environment, FormerNamesAreReadUnlessTheyContradict) {
  const char* const former = "OPENTCA_ROUTE";
  setenv(former, "pull", 1);
  EXPECT_STREQ(base::set_variable("OPENTCA_CHANNEL"), "pull");
  EXPECT_EQ(base::name_set("OPENTCA_CHANNEL"), former);
  const char* const settings[] = {"OPENTCA_ROUTE=pull", nullptr};
  EXPECT_TRUE(base::unknown_variables(settings).empty());
  setenv("OPENTCA_CHANNEL", "pull", 1);
  EXPECT_STREQ(base::set_variable("OPENTCA_CHANNEL"), "pull");
  setenv("OPENTCA_CHANNEL", "staged", 1);
  EXPECT_TRUE(refuses(Errc::invalid_argument, {"OPENTCA_ROUTE=pull contradicts OPENTCA_CHANNEL=staged"},
                      [] { static_cast<void>(base::set_variable("OPENTCA_CHANNEL")); }));
  for (const char* const name : {former, "OPENTCA_CHANNEL"}) unsetenv(name);
}

TEST(Environment, UnknownVariablesAreNamed) {
  const char* const settings[] = {
      "OPENTCA_CHANEL=pull", "OPENTCA_CHANNEL=pull", "OPENTCA_TIMELIMIT=5", "OPENTCA_BANANA=1",
      "OPENTCA_ROOT=/opt",   "OPENTCA_TEST_LARGE=",  "MPI_OPENTCA_=1",      nullptr};
  EXPECT_EQ(base::unknown_variables(settings),
            (std::vector<std::string>{
                "OPENTCA_CHANEL is not a variable of OpenTCA; did you mean OPENTCA_CHANNEL?",
                "OPENTCA_TIMELIMIT is not a variable of OpenTCA; did you mean OPENTCA_TIME_LIMIT?",
                "OPENTCA_BANANA is not a variable of OpenTCA; tca info lists those that there are"}));
}

TEST_F(RouteTest, ExplainsItsChoice) {
  EXPECT_TRUE(says(explained({0, word}, {0, 2}, {}), {"shm/staged, 0.", " us", "next best shm/"}));
  EXPECT_TRUE(says(explained({0, word}, {0, 1}, "pull"), {"shm/pull", "forced to channel 'pull'"}));
  EXPECT_TRUE(says(explained({7, word}, {1, 0}, {}), {"odd/first, not known", "the only channel"}));
  EXPECT_EQ(route::describe(word), "block");
  EXPECT_EQ(route::describe(base::pair_up(stride(10, 2), stride(10, 2), 4)), "10 runs of 4 bytes");
  const Layout box = subarray({5, 6, 7}, {0, 0, 0}, {2, 3, 4});
  EXPECT_EQ(route::describe(base::pair_up(box, box, 4)), "2 x 3 runs of 16 bytes");
}

}  // namespace
}  // namespace tca::test
