// Tests how a link finds the fastest way of storing, with simulated clocks, and which links have a choice.
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "fabric/shm/compile.hpp"
#include "fabric/shm/memory.hpp"
#include "fabric/shm/store_mode.hpp"

namespace tca::test {
namespace {

using shm::StoreMode, shm::StoreModeTuner;
using enum shm::StoreMode;

using Took = std::map<StoreMode, std::uint64_t>;  // from one send to the next, for each way of storing
constexpr std::array two{ordinary, nontemporal};
constexpr std::array all{bulk_copy, ordinary, nontemporal};

// The sends of a link, timed by a simulated clock.
class Sends {
 public:
  explicit Sends(std::span<const StoreMode> ways) : trial_(ways) {}

  // Returns how many of `sends` went which way, when the nth send of a way takes `took(way, n)`.
  template <class TookOf>
  std::map<StoreMode, int> run(int sends, TookOf took) {
    std::map<StoreMode, int> taken;
    for (int i = 0; i < sends; ++i) {
      last_ = trial_.next([this] { return time_; });
      time_ += static_cast<std::uint64_t>(took(last_, taken[last_]++));
    }
    return taken;
  }
  StoreMode last() const { return last_; }

 private:
  StoreModeTuner trial_;
  std::uint64_t time_ = 0;
  StoreMode last_ = ordinary;
};

auto always(const Took& took) {
  return [took](StoreMode way, int) { return took.at(way); };
}

TEST(StoreModeTuner, TakesTheFastest) {
  for (const auto& [fastest, took] :
       {std::pair(ordinary, Took{{bulk_copy, 12}, {ordinary, 10}, {nontemporal, 20}}),
        std::pair(bulk_copy, Took{{bulk_copy, 9}, {ordinary, 10}, {nontemporal, 10}}),
        std::pair(nontemporal, Took{{bulk_copy, 30}, {ordinary, 30}, {nontemporal, 10}})}) {
    Sends sends(all);
    sends.run(1, always(took));
    EXPECT_EQ(sends.last(), bulk_copy);
    sends.run(25, always(took));
    EXPECT_EQ(sends.last(), fastest);
  }
}

TEST(StoreModeTuner, LosesLittleOnIt) {
  Sends sends(two);
  const auto near = always({{ordinary, 10}, {nontemporal, 20}});
  sends.run(2000, near);
  EXPECT_LE(sends.run(10000, near)[nontemporal], 100);
}

TEST(StoreModeTuner, DoesNotInsistOnWhatIsFarSlower) {
  Sends sends(two);
  const auto took = always({{ordinary, 10}, {nontemporal, 25}});
  EXPECT_LE(sends.run(300, took)[nontemporal], 4);  // one per trial
  EXPECT_LE(sends.run(10000, took)[nontemporal], 22);
}

TEST(StoreModeTuner, NoticesThatCoresHaveMoved) {
  Sends sends(two);
  const auto near = always({{ordinary, 10}, {nontemporal, 20}}),
             far = always({{ordinary, 40}, {nontemporal, 15}});
  sends.run(5000, near);
  EXPECT_LE(sends.run(5000, far)[ordinary], 650);
  EXPECT_LE(sends.run(5000, near)[nontemporal], 650);
}

// Ways of nearly the same cost must not cause more trials.
TEST(StoreModeTuner, KeepsWhatIsAsGood) {
  Sends sends(std::array{bulk_copy, ordinary});
  sends.run(2000, always({{bulk_copy, 100}, {ordinary, 100}}));
  const auto taken =
      sends.run(10000, [](StoreMode way, int n) { return (n / 5 + (way == ordinary)) % 2 == 0 ? 100 : 102; });
  EXPECT_LE(taken.at(ordinary), 100);
}

// A send during which the core did something else must not count.
TEST(StoreModeTuner, ForgivesSlowSends) {
  for (const StoreMode hindered : {ordinary, nontemporal}) {
    Sends sends(two);
    const auto taken = sends.run(5000, [hindered](StoreMode way, int n) {
      return way == hindered && n % 3 != 1 ? std::uint64_t{1} << 32
                                           : std::uint64_t{way == ordinary ? 10u : 20u};
    });
    EXPECT_LE(taken.at(nontemporal), 100);
  }
}

// Compiles puts of rank 0 to rank 1, over memory that no test accesses.
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
  std::array<std::byte, 2> bytes_{};
  shm::ShmMemory memory_{{{&bytes_[0], 1}, {&bytes_[1], 1}}, 0, {}};
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

TEST(StoreMode, HaveAChoiceWhereThereIsEnough) {
  using enum shm::Nontemporal;
  struct Case {
    shm::Protocol protocol;
    base::Shape shape;
    // Whether the link chooses between ordinary and other stores, and whether these may bypass the caches.
    bool chooses, may_pass;
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

// Without non-temporal stores, only rows have a choice: straight into the ring, or gathered first.
TEST(StoreMode, StayInTheCachesWhereTheyAreToldTo) {
  Links links;
  EXPECT_EQ(links.compile(shm::staged, {block_of(1 << 20)}, shm::Nontemporal::never).trial, -1);
  EXPECT_EQ(links.compile(shm::direct, {block_of(1 << 20)}, shm::Nontemporal::never).trial, -1);
  EXPECT_EQ(links.compile(shm::staged, {rows_of(64, 512)}, shm::Nontemporal::never).trial, 0);
}

}  // namespace
}  // namespace tca::test
