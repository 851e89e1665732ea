// Times of messages: what counts as waiting for the partner and what as carriage, and which chains take them.
#include <cmath>

#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

double now_us(World& world) { return world.now().count() * 1e6; }

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Lets that much time pass by the world's clock, which on modelled machines nothing else moves on.
void pass(World& world, double us) {
  const double begin = now_us(world);
  while (now_us(world) - begin < us) world.progress();
}

// The only entry, of a fabric that takes times. What others say is checked here.
const MessageTiming* measured(const Timing& timing) {
  require(timing.timed && timing.messages.size() == 1, "{} senders", timing.messages.size());
  const MessageTiming& message = timing.messages[0];
  if (message.measured) return &message;
  require(message.count == 0 && holds(timing.describe(), "not timed: "), "said '{}'", timing.describe());
  return nullptr;
}

// In a group, whose ranks fabrics know by other numbers.
TEST_P(FabricTest, CountsTheMessagesOfTimedChains) {
  const int many = steps(40);
  run(2, [&](World& around) {
    World world = around.group({1, 0});
    const int other = 1 - world.rank();
    const Window<int> window = world.window<int>(32);
    for (const bool guarded : {true, false}) {
      Chain chain = world.chain("timed", {.guarded = guarded, .timed = true});
      chain.put(window.on(other).at(0), window.at(16), block(16)).expect(other).commit();
      for (const int round : {1, 2}) {
        for (int step = 0; step < many; ++step) chain.run();
        const Timing timing = chain.timing();
        const MessageTiming* const message = measured(timing);
        if (message == nullptr) return;
        const auto expected = static_cast<std::uint64_t>(many);
        require(message->from == other && message->count == expected, "{} messages from {} in round {}",
                message->count, message->from, round);
        require(message->waiting.count() == expected &&
                    message->carriage.count() + message->there_at_once == expected,
                "{} waits, {} carried, {} at once", message->waiting.count(), message->carriage.count(),
                message->there_at_once);
        require(holds(timing.json(), fmt::format("\"count\":{}", many)), "{}", timing.json());
        require(holds(chain.explain(), fmt::format("{}", timing.describe())), "{}", chain.explain());
        chain.clear_timing();
        require(chain.timing().messages[0].count == 0, "not cleared");
      }
      world.barrier();
    }
  });
}

// Rank 0 has looked before rank 1 may start, which it does a while later. The times that both ranks take around their
// calls are bounds of what the chain may have seen.
TEST_P(FabricTest, APartnerThatStartsLateIsWaitedForAndCarriageStaysWhatItIs) {
  run(2, [&](World& world) {
    const int other = 1 - world.rank();
    const bool receives = world.rank() == 0;
    const Window<int> window = world.window<int>(32);
    Chain late = world.chain("late", {.timed = true}), go = world.chain("go");
    if (receives) {
      late.expect(other).commit();
      go.signal(other).commit();
    } else {
      late.put(window.on(other).at(0), window.at(16), block(16)).commit();
      go.expect(other).commit();
    }
    struct Around {
      double before = 0, after = 0, end = 0;
    } mine;
    if (!receives) {
      go.run();
      pass(world, 50);
    } else {
      late.start();
    }
    mine.before = now_us(world);
    receives ? static_cast<void>(late.test()) : late.start();
    mine.after = now_us(world);
    if (receives) go.run();
    late.wait();
    mine.end = now_us(world);
    const auto [look, start] = [&] {
      const std::vector<Around> all = world.all_gather(mine);
      return std::pair(all[0], all[1]);
    }();
    if (!receives) return;
    const Timing timing = late.timing();
    const MessageTiming* const message = measured(timing);
    if (message == nullptr) return;
    require(message->count == 1 && message->there_at_once == 0, "{}", timing.describe());
    constexpr double exact = 2e-3;
    const double waiting = message->waiting.total_us(), carriage = message->carriage.total_us();
    if (GetParam().name.starts_with("cuda")) {  // its kernel has looked since the start, and by another clock
      require(waiting >= 45 && carriage >= 0 && carriage <= look.end - start.before + 5,
              "waited {}, carried in {}", waiting, carriage);
      return;
    }
    require(waiting >= start.before - look.after - exact && waiting <= start.after - look.before + exact,
            "waited {} us, which is not {} to {}", waiting, start.before - look.after,
            start.after - look.before);
    require(waiting >= 50 - exact, "waited {} us for a partner that was 50 late", waiting);
    require(carriage >= 0 && carriage <= look.end - start.before + exact, "carried in {} us, at most {}",
            carriage, look.end - start.before);
    if (!GetParam().name.starts_with("sim_")) return;
    require(std::abs(waiting - (start.before - look.before)) <= exact, "waited {} us, exactly {}", waiting,
            start.before - look.before);
    require(std::abs(carriage - (look.end - start.before)) <= exact, "carried in {} us, exactly {}", carriage,
            look.end - start.before);
  });
}

TEST_P(FabricTest, ChainsAreTimedOnAllRanksOrOnNone) {
  run(2, [&](World& world) {
    Chain chain = world.chain("plain");
    chain.signal(1 - world.rank()).expect(1 - world.rank()).commit();
    chain.run();
    const Timing off = chain.timing();
    require(!off.timed && off.messages.empty() && holds(off.describe(), "chain 'plain' is not timed; ask"),
            "{}", off.describe());
    require(!holds(chain.explain(), "times of what comes"), "{}", chain.explain());

    Chain half = world.chain("half", {.timed = world.rank() == 0});
    half.signal(1 - world.rank()).expect(1 - world.rank());
    const Caught error = caught([&] { half.commit(); });
    require(
        error.code == Errc::refused &&
            holds(error.message, "rank 0 commits the timed guarded chain 'half', rank 1 the guarded chain"),
        "{}", error.message);
  });
}

}  // namespace
}  // namespace tca::test
