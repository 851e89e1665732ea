// How a link finds out which way of storing is fastest, with clocks that are made up; which links have a choice.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "fabric/shm/compile.hpp"
#include "fabric/shm/memory.hpp"
#include "fabric/shm/stores.hpp"

namespace tca::test {
namespace {

using shm::Stores, shm::StoreTrial;
using enum shm::Stores;

using Ticks = std::map<Stores, std::uint64_t>;  // of a send, by way
constexpr std::array two{ordinary, nontemporal};
constexpr std::array all{long_moves, ordinary, nontemporal};

// How many of `sends` went which way, when the nth timed one of a way takes `ticks(way, n)`.
template <class TicksOf>
std::map<Stores, int> run(StoreTrial& trial, int sends, TicksOf ticks) {
  std::map<Stores, int> taken, timed;
  for (int i = 0; i < sends; ++i) {
    const Stores way = trial.way();
    ++taken[way];
    trial.record(trial.is_timed() ? static_cast<std::uint64_t>(ticks(way, timed[way]++)) : 0);
  }
  return taken;
}

auto always(const Ticks& ticks) {
  return [ticks](Stores way, int) { return ticks.at(way); };
}

TEST(StoreTrial, TakesTheFastest) {
  for (const auto& [fastest, ticks] :
       {std::pair(ordinary, Ticks{{long_moves, 12}, {ordinary, 10}, {nontemporal, 20}}),
        std::pair(long_moves, Ticks{{long_moves, 9}, {ordinary, 10}, {nontemporal, 8}}),
        std::pair(nontemporal, Ticks{{long_moves, 30}, {ordinary, 30}, {nontemporal, 10}})}) {
    StoreTrial trial(all);
    EXPECT_EQ(trial.way(), long_moves);
    run(trial, 25, always(ticks));
    EXPECT_EQ(trial.way(), fastest);
  }
}

TEST(StoreTrial, LosesLittleOnIt) {
  StoreTrial trial(two);
  const auto near = always({{ordinary, 10}, {nontemporal, 20}});
  run(trial, 2000, near);
  EXPECT_LE(run(trial, 10000, near)[nontemporal], 100);
}

TEST(StoreTrial, NoticesThatCoresHaveMoved) {
  StoreTrial trial(two);
  const auto near = always({{ordinary, 10}, {nontemporal, 20}}),
             far = always({{ordinary, 40}, {nontemporal, 15}});
  run(trial, 5000, near);
  EXPECT_LE(run(trial, 5000, far)[ordinary], 650);
  EXPECT_LE(run(trial, 5000, near)[nontemporal], 650);
}

// Ways that are level do not make it try more often.
TEST(StoreTrial, KeepsWhatIsAsGood) {
  StoreTrial trial(std::array{long_moves, ordinary});
  run(trial, 2000, [](Stores, int) { return 100; });
  const auto taken =
      run(trial, 10000, [](Stores way, int n) { return (n / 3 + (way == ordinary)) % 2 == 0 ? 100 : 102; });
  EXPECT_LE(taken.at(ordinary), 100);
}

// Sends in which the core did something else count for nothing, if not all of a trial are.
TEST(StoreTrial, ForgivesSlowSends) {
  for (const Stores hindered : {ordinary, nontemporal}) {
    StoreTrial trial(two);
    const auto taken = run(trial, 5000, [hindered](Stores way, int n) {
      return way == hindered && n % 3 != 1 ? std::uint64_t{1} << 32
                                           : std::uint64_t{way == ordinary ? 10u : 20u};
    });
    EXPECT_LE(taken.at(nontemporal), 100);
  }
}

// Puts of rank 0 to rank 1, over memory that nobody touches.
class Links {
 public:
  shm::Link compile(shm::Protocol protocol, std::initializer_list<base::Shape> shapes,
                    shm::Nontemporal nontemporal) {
    shapes_.assign(shapes.begin(), shapes.end());
    puts_.clear();
    for (const base::Shape& shape : shapes_)
      puts_.push_back({.from = 0,
                       .to = 1,
                       .to_memory = &memory_,
                       .from_memory = &memory_,
                       .shape = &shape,
                       .protocol = protocol});
    shm::Traffic traffic;
    for (const fabric::Put& put : puts_) traffic.out.push_back(&put);
    moves_ = {};
    return compile_link(1, traffic, true, nontemporal, moves_, kept_);
  }
  std::size_t trials() const { return moves_.trials.size(); }

 private:
  static std::vector<shm::Mapping> views(std::array<std::byte, 2>& bytes) {
    std::vector<shm::Mapping> all;
    for (std::byte& byte : bytes) all.emplace_back(&byte, 1, false);
    return all;
  }

  std::array<std::byte, 2> bytes_{};
  shm::ShmMemory memory_{views(bytes_), {true, true}, 0};
  std::vector<base::Shape> shapes_;
  std::vector<fabric::Put> puts_;
  shm::Moves moves_;
  shm::Shapes kept_;
};

base::Shape block_of(std::uint64_t bytes) { return {bytes, 0, {}}; }
base::Shape rows_of(std::uint64_t rows, std::uint64_t bytes) {
  const auto pitch = static_cast<std::int64_t>(2 * bytes);
  return {bytes, 1, {{{rows, pitch, pitch}}}};
}

TEST(Stores, HaveAChoiceWhereThereIsEnough) {
  using enum shm::Nontemporal;
  struct Case {
    shm::Protocol protocol;
    base::Shape shape;
    bool chooses, may_pass;  // ordinary and other stores; the caches
  };
  for (const Case& c :
       {Case{shm::staged, block_of(2047), false, false}, Case{shm::staged, block_of(2048), true, true},
        Case{shm::staged, block_of(10000), true, true}, Case{shm::staged, rows_of(1024, 8), true, true},
        Case{shm::direct, block_of(16383), false, false}, Case{shm::direct, block_of(16384), true, true},
        Case{shm::direct, rows_of(64, 256), true, true}, Case{shm::direct, rows_of(128, 128), false, false},
        Case{shm::pull, block_of(1 << 20), false, false}}) {
    Links links;
    const shm::Link tried = links.compile(c.protocol, {c.shape}, if_faster);
    EXPECT_EQ(tried.trial, c.chooses ? 0 : -1);
    EXPECT_EQ(links.trials(), c.chooses ? 1 : 0);
    EXPECT_EQ(tried.stores, ordinary);
    const shm::Link forced = links.compile(c.protocol, {c.shape}, always);
    EXPECT_EQ(forced.trial, -1);
    EXPECT_EQ(forced.stores, c.may_pass ? nontemporal : ordinary);
    EXPECT_EQ(forced.nontemporal_in_place, c.may_pass && c.protocol == shm::direct);
    EXPECT_EQ(forced.nontemporal_into_ring, c.may_pass && c.protocol == shm::staged);
  }
}

// Then only rows have a choice, between the ring and a detour to it.
TEST(Stores, StayInTheCachesWhereTheyAreToldTo) {
  Links links;
  EXPECT_EQ(links.compile(shm::staged, {block_of(1 << 20)}, shm::Nontemporal::never).trial, -1);
  EXPECT_EQ(links.compile(shm::direct, {block_of(1 << 20)}, shm::Nontemporal::never).trial, -1);
  EXPECT_EQ(links.compile(shm::staged, {rows_of(64, 512)}, shm::Nontemporal::never).trial, 0);
}

}  // namespace
}  // namespace tca::test
