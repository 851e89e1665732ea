// Tests what applications share about their messages: channels by name, what they cost and what is said of
// them, and all combinations of channels.
#include "shared/cli/messages.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "shared/channels.hpp"
#include "shared/cli/sweep.hpp"
#include "shared/message_cost.hpp"
#include "tca/chain.hpp"
#include "tca/coll.hpp"
#include "tca/error.hpp"
#include "tca/world.hpp"

namespace tca::tool {
namespace {

constexpr std::array<std::string_view, 2> names{"OUT", "FLAG"};

std::string refusal(const std::vector<std::string>& forced) {
  try {
    const apps::Channels channels(forced, names);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    return error.what();
  }
  return {};
}

TEST(Channels, AreForcedByName) {
  const std::vector<std::string> forced{"FLAG=sim/mpi"};
  const apps::Channels channels(forced, names);
  EXPECT_EQ(channels.of("FLAG"), "sim/mpi");
  EXPECT_EQ(channels.of("OUT"), "");
  EXPECT_TRUE(channels.is_forced("FLAG"));
  EXPECT_FALSE(channels.is_forced("OUT"));
}

TEST(Channels, OfMessagesThatThereAreNotAreRefused) {
  EXPECT_EQ(refusal({"TREE=sim/mpi"}),
            "--channel TREE=sim/mpi: there is no message TREE here; there are OUT, FLAG");
  EXPECT_EQ(refusal({"OUT=a", "OUT=b"}), "--channel OUT=b: OUT has channel a already");
  for (const char* said : {"OUT", "OUT=", "=sim/mpi"})
    EXPECT_EQ(refusal({said}),
              std::string("--channel ") + said + ": give a message and its channel, such as OUT=CHANNEL");
}

TEST(MessageCost, TellsWaitingFromCarrying) {
  World::run_threads(2, [](World& world) {
    const std::vector<double> times =
        world.rank() == 0 ? std::vector{3.0, 4.0, 5.0} : std::vector{2.0, 6.0, 4.0};
    const apps::MessageCost cost = apps::cost_of(world, "OUT", 8 + world.rank(), times, 1.5);
    EXPECT_EQ(cost.us, 5);          // of 3, 6 and 5
    EXPECT_EQ(cost.waiting_us, 1);  // of 1, 2 and 1
    EXPECT_NEAR(cost.p99_us, 5.98, 1e-12);
    EXPECT_EQ(cost.count, 2);
    EXPECT_EQ(cost.bytes, 9);
  });
}

// The text is the library's own, so that a change of it is seen here.
TEST(MessageRoute, IsReadFromWhatChainsAndCollectivesSay) {
  const WorldOptions modelled{.fabric = "sim", .machine = "peach3"};
  World::run_threads(
      2,
      [](World& world) {
        const int other = 1 - world.rank();
        const auto window = world.window<double>(1024, "x");
        const auto chain_by = [&](const std::string& channel) {
          Chain chain = world.chain("a 'chosen' chain", {.channel = channel});
          chain.put(window.on(other).at(0), window.at(512), block(512)).expect(other).commit();
          return read_route(chain.explain());
        };
        const MessageRoute chosen = chain_by(""), forced = chain_by("sim/mpi");
        EXPECT_EQ(chosen.channel, "sim/tca");
        EXPECT_EQ(chosen.next_best, "sim/mpi");
        ASSERT_TRUE(chosen.predicted_us && forced.predicted_us);
        EXPECT_NEAR(chosen.next_best_us, *forced.predicted_us, 0.01);
        EXPECT_LT(*chosen.predicted_us, *forced.predicted_us);
        EXPECT_EQ(forced.channel, "sim/mpi");
        EXPECT_EQ(forced.next_best, "");

        const AllReduce<double> sum(world, "sum", 1, ReduceOp::sum, {.channel = "sim/mpi"});
        const MessageRoute collective = read_route(sum.explain());
        EXPECT_EQ(collective.channel, "sim/mpi");
        EXPECT_TRUE(collective.predicted_us);
      },
      modelled);
  EXPECT_FALSE(read_route("persistent requests").predicted_us);
  EXPECT_EQ(read_route("").channel, "");
}

// With the signal that ends it.
TEST(MessageRoute, PredictsAMessageAsItsChainDoes) {
  World::run_threads(2, [](World& world) {
    const int other = 1 - world.rank();
    const auto window = world.window<double>(1024, "x");
    Chain chain = world.chain("faces", {.timed = true});
    chain.put(window.on(other).at(0), window.at(512), block(256));
    chain.put(window.on(other).at(256), window.at(768), block(256)).expect(other).commit();

    const std::optional<double> read = read_route(chain.explain()).predicted_us;

    ASSERT_TRUE(read);
    EXPECT_NEAR(*read, chain.timing().messages.at(0).predicted_us.value(), 0.02);
  });
  const MessageRoute route = read_route(
      "  0    rank 1  shm/direct  0.10 us  8  block of 1  'x' at 0  'x' at 4  next best shm/pull 0.20 us\n"
      "  tells rank 1 over shm, once a step, that all puts have come; a signal crosses in 140 ns\n");
  EXPECT_NEAR(route.predicted_us.value(), 0.24, 1e-9);
  EXPECT_NEAR(route.next_best_us, 0.34, 1e-9);
}

TEST(ChannelSweep, HasEveryCombinationOfWhatIsNotForced) {
  World::run_threads(2,
                     [](World& world) {
                       const std::vector<SweptMessage> swept{{"OUT", 4096}, {"FLAG", 4}};
                       std::vector<std::string> found;
                       for (const apps::Channels& one : combinations(world, swept, {}))
                         found.push_back(one.of("OUT") + " " + one.of("FLAG"));
                       std::ranges::sort(found);
                       EXPECT_EQ(found, (std::vector<std::string>{"sim/mpi sim/mpi", "sim/mpi sim/tca",
                                                                  "sim/tca sim/mpi", "sim/tca sim/tca"}));
                       apps::Channels forced;
                       forced.force("OUT", "sim/rma");
                       const std::vector<apps::Channels> fewer = combinations(world, swept, forced);
                       ASSERT_EQ(fewer.size(), 2U);
                       for (const apps::Channels& one : fewer) EXPECT_EQ(one.of("OUT"), "sim/rma");
                     },
                     {.fabric = "sim", .machine = "peach3"});
}

TEST(ChannelSweep, KnowsWhichOneTheLibraryChooses) {
  const std::string put =
      "  0    rank 1  sim/tca  3.67 us    5600   block of 700  x  y  next best sim/mpi 13.64 us\n";
  const SweepReport report{.names = {"OUT"}, .own = {{"OUT", put}}};
  TriedChannels one{};
  one.channels.force("OUT", "sim/tca");
  EXPECT_TRUE(report.is_chosen(one));
  one.channels.force("OUT", "sim/mpi");
  EXPECT_FALSE(report.is_chosen(one));
}

}  // namespace
}  // namespace tca::tool
