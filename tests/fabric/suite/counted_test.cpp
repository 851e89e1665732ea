// Counted puts: lengths that change from step to step, in every layout, and how they are refused.
#include <algorithm>
#include <deque>
#include <numeric>
#include <random>

#include "messages.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

using Value = std::int64_t;

bool carries_counted(const Backend& backend, const std::string& channel) {
  return !backend.name.starts_with("cuda_mpi") && !channel.ends_with("copy_engine") &&
         backend.name != "staged" && !channel.ends_with("rma");
}

// Returns a seed that all ranks have: rank 0's.
unsigned agreed_seed(World& world) {
  unsigned seed = static_cast<unsigned>(GTEST_FLAG_GET(random_seed));
  if (seed == 0) seed = std::random_device{}() % 99999 + 1;
  return world.all_gather(seed).front();
}

// One counted put, with the elements of its layouts one by one, and the length by which it is cut.
struct Case {
  Cells source, target;
  std::int64_t unit;  // lengths are multiples of it

  std::int64_t capacity() const { return std::ssize(source.at); }
};

std::vector<Case> every_layout() {
  return {{block_cells(1), block_cells(1), 1},
          {block_cells(3000), block_cells(3000), 1},
          {stride_cells(40, 3), stride_cells(40, 2), 1},
          {stride_cells(40, 3), block_cells(40), 1},
          {block_cells(35), block_stride_cells(7, 5, 9), 5},
          {block_stride_cells(90, 33, 40), block_stride_cells(90, 33, 35), 33},
          {block_stride_cells(6, 4, 4), block_cells(24), 1},  // rows without gaps
          {subarray_cells({5, 6, 7}, {1, 2, 0}, {3, 4, 5}), block_cells(60), 20},
          {subarray_cells({4, 5, 3, 6}, {0, 1, 1, 2}, {4, 2, 2, 3}),
           subarray_cells({5, 4, 4, 3}, {1, 0, 2, 0}, {4, 2, 2, 3}), 12}};
}

Value value(int rank, int step, std::size_t put, std::int64_t i) {
  return ((static_cast<Value>(put) * 64 + rank) * 512 + step) * 4096 + i + 1;
}

// Sends every case to `to` and receives every case from `from`, behind one another in two windows, with an
// ordinary put between them.
class Exchange {
 public:
  Exchange(World& world, std::vector<Case> cases, int to, int from, const ChainOptions& options,
           int number = 0)
      : world_(world),
        cases_(std::move(cases)),
        to_(to),
        from_(from),
        source_(world.window<Value>(room(&Case::source))),
        target_(world.window<Value>(room(&Case::target))),
        expected_(target_.size(), -7),
        chain_(world.chain(fmt::format("counted {}", number), options)) {
    fill(target_, 0, std::ssize(expected_), -7);
    std::int64_t source = 0, target = 0;
    for (const Case& one : cases_) {
      if (&one == &cases_[cases_.size() / 2]) put_fixed();
      if (to >= 0)
        puts_.push_back(chain_.put_counted(target_.on(to).at(target), one.target.layout, source_.at(source),
                                           one.source.layout));
      if (from >= 0) arrivals_.push_back(chain_.expect_counted(from));
      source += one.source.end();
      target += one.target.end();
    }
    world.barrier();  // nobody puts before all have filled their targets, also unguarded
    chain_.commit();
    for (std::size_t put = 0; put < puts_.size(); ++put)
      require(puts_[put].capacity() == cases_[put].capacity(), "put {} has capacity {}", put,
              puts_[put].capacity());
    for (std::size_t put = 0; put < arrivals_.size(); ++put)
      require(arrivals_[put].capacity() == cases_[put].capacity() && arrivals_[put].count() == 0,
              "arrival {} has capacity {} and count {}", put, arrivals_[put].capacity(),
              arrivals_[put].count());
  }

  // Starts a step. Lengths come from `sent`, and what is to come from `come`.
  void start(int step, const std::vector<std::int64_t>& sent, std::vector<std::int64_t> come) {
    step_ = step;
    come_ = std::move(come);
    std::vector<Value> values(source_.size(), -9);
    std::int64_t source = 0;
    for (std::size_t put = 0; put < cases_.size(); ++put) {
      for (std::int64_t i = 0; i < cases_[put].capacity(); ++i)
        values[at(source + cases_[put].source.at[at(i)])] = value(world_.rank(), step, put, i);
      source += cases_[put].source.end();
    }
    values[at(source)] = value(world_.rank(), step, cases_.size(), 0);
    source_.write(0, values);
    for (std::size_t put = 0; put < puts_.size(); ++put) puts_[put].set(sent[put]);
    chain_.start();
  }

  void finish() {
    chain_.wait();
    fill(source_, 0, static_cast<std::int64_t>(source_.size()), -5);
    check();
  }

  Chain& chain() { return chain_; }
  std::vector<CountedPut>& puts() { return puts_; }

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

  // One element is left for the ordinary put, and one behind it.
  std::int64_t room(Cells Case::*side) const {
    return std::accumulate(cases_.begin(), cases_.end(), std::int64_t{2},
                           [&](std::int64_t sum, const Case& one) { return sum + (one.*side).end(); });
  }

  void put_fixed() {
    if (to_ >= 0)
      chain_.put(target_.on(to_).at(room(&Case::target) - 2), source_.at(room(&Case::source) - 2), block(1));
    if (from_ >= 0) chain_.expect(from_);
  }

  void check() {
    if (from_ < 0) return;
    std::int64_t target = 0;
    for (std::size_t put = 0; put < cases_.size(); ++put) {
      require(arrivals_[put].count() == come_[put], "step {}: the count of put {} is {}, not {}", step_, put,
              arrivals_[put].count(), come_[put]);
      for (std::int64_t i = 0; i < come_[put]; ++i)
        expected_[at(target + cases_[put].target.at[at(i)])] = value(from_, step_, put, i);
      target += cases_[put].target.end();
    }
    expected_[at(target)] = value(from_, step_, cases_.size(), 0);
    const std::vector<Value> have = contents(target_);
    for (std::size_t i = 0; i < have.size(); ++i)
      require(have[i] == expected_[i], "step {}: element {} is {}, not {}", step_, i, have[i], expected_[i]);
  }

  World& world_;
  std::vector<Case> cases_;
  int to_, from_, step_ = 0;
  Window<Value> source_, target_;
  std::vector<Value> expected_;
  std::vector<std::int64_t> come_;
  Chain chain_;
  std::vector<CountedPut> puts_;
  std::vector<CountedArrival> arrivals_;
};

// Random lengths of a rank in a step: nothing and everything as often as all between them together.
std::vector<std::int64_t> lengths(const std::vector<Case>& cases, unsigned seed, int rank, int step) {
  std::mt19937 random(seed + 1000u * static_cast<unsigned>(step) + static_cast<unsigned>(rank));
  std::vector<std::int64_t> all;
  for (const Case& one : cases) {
    const auto most = static_cast<std::uint32_t>(one.capacity() / one.unit);
    const std::uint32_t kind = static_cast<std::uint32_t>(random()) % 4;
    const std::uint32_t some = static_cast<std::uint32_t>(random()) % (most + 1);
    all.push_back(one.unit * (kind == 0 ? 0 : kind == 1 ? most : some));
  }
  return all;
}

// Runs a body with a seed, which its failures name.
template <class Body>
void with_seed(World& world, const Body& body) {
  const unsigned seed = agreed_seed(world);
  try {
    body(seed);
  } catch (const Mismatch& wrong) {
    throw Mismatch(fmt::format("{} (repeat with --gtest_random_seed={})", wrong.what(), seed));
  }
}

// Both ranks send to each other, or one only sends.
void exchange_lengths(World& world, const std::string& channel, bool mutual, int steps) {
  with_seed(world, [&](unsigned seed) {
    const int me = world.rank(), other = 1 - me;
    const std::vector<Case> cases = every_layout();
    Exchange exchange(world, cases, mutual || me == 0 ? other : -1, mutual || me == 1 ? other : -1,
                      {.channel = channel});
    for (int step = 1; step <= steps; ++step) {
      exchange.start(step, lengths(cases, seed, me, step), lengths(cases, seed, other, step));
      exchange.finish();
    }
  });
}

TEST_P(FabricTest, CountedInEveryLayoutBothWays) {
  for (const std::string& channel : channels()) {
    if (!carries_counted(GetParam(), channel)) continue;
    SCOPED_TRACE("channel " + channel);
    run(2, [&](World& world) { exchange_lengths(world, channel, true, steps(40)); });
  }
}

TEST_P(FabricTest, CountedInEveryLayoutOneWay) {
  for (const std::string& channel : channels()) {
    if (!carries_counted(GetParam(), channel)) continue;
    SCOPED_TRACE("channel " + channel);
    run(2, [&](World& world) { exchange_lengths(world, channel, false, steps(40)); });
  }
}

// Two chains without a guard take turns between partners that both send.
TEST_P(FabricTest, CountedWithoutAGuard) {
  for (const std::string& channel : channels()) {
    if (!carries_counted(GetParam(), channel)) continue;
    SCOPED_TRACE("channel " + channel);
    run(2, [&](World& world) {
      with_seed(world, [&](unsigned seed) {
        const int me = world.rank(), other = 1 - me;
        const std::vector<Case> cases{{block_cells(5), block_cells(5), 1},
                                      {block_stride_cells(4, 3, 5), block_cells(12), 3}};
        std::deque<Exchange> both;
        for (int number : {0, 1})
          both.emplace_back(world, cases, other, other, ChainOptions{.guarded = false, .channel = channel},
                            number);
        for (int step = 1; step <= steps(60); ++step) {
          Exchange& exchange = both[static_cast<std::size_t>(step % 2)];
          exchange.start(step, lengths(cases, seed, me, step), lengths(cases, seed, other, step));
          exchange.finish();
        }
      });
    });
  }
}

// A ring of a group's ranks, and a put of a rank to itself.
TEST_P(FabricTest, CountedInAGroupAndToItself) {
  for (const std::string& channel : channels()) {
    if (!carries_counted(GetParam(), channel)) continue;
    SCOPED_TRACE("channel " + channel);
    run(3, [&](World& world) {
      with_seed(world, [&](unsigned seed) {
        const std::vector<Case> cases{{block_cells(9), block_cells(9), 1},
                                      {block_cells(1), block_cells(1), 1}};
        const auto go = [&](World& of, int to, int from) {
          Exchange exchange(of, cases, to, from, {.channel = channel});
          for (int step = 1; step <= steps(10); ++step) {
            exchange.start(step, lengths(cases, seed, of.rank(), step), lengths(cases, seed, from, step));
            exchange.finish();
          }
        };
        World group = world.group({2, 0, 1});
        const int me = group.rank(), size = group.size();
        go(group, (me + 1) % size, (me + size - 1) % size);
        go(group, me, me);
      });
    });
  }
}

// A length that is set once a step has started is the next step's, even when the bytes still wait for the
// receiver.
TEST_P(FabricTest, CountedStepsKeepTheirLengths) {
  for (const std::string& channel : channels()) {
    if (!carries_counted(GetParam(), channel)) continue;
    SCOPED_TRACE("channel " + channel);
    run(2, [&](World& world) {
      const int me = world.rank(), other = 1 - me;
      const std::vector<Case> cases{{block_cells(8), block_cells(8), 1}};
      Exchange exchange(world, cases, me == 0 ? other : -1, me == 1 ? other : -1, {.channel = channel});
      for (int step = 1; step <= 6; ++step) {
        if (me == 0) {
          exchange.start(step, {step}, {});
          exchange.puts().front().set(0);
        }
        world.barrier();
        if (me == 1) exchange.start(step, {}, {step});
        exchange.finish();
      }
    });
  }
}

// What is wrong with a length is found where it is set; nothing is sent, and the chain goes on.
TEST_P(FabricTest, CountedLengthsThatCannotBe) {
  if (!carries_counted(GetParam(), "")) GTEST_SKIP() << "no counted puts here";
  run(2, [](World& world) {
    const int me = world.rank(), other = 1 - me;
    const std::vector<Case> cases{{block_cells(5), block_cells(5), 1},
                                  {block_stride_cells(4, 3, 5), block_cells(12), 3}};
    Exchange exchange(world, cases, other, other, {});
    const auto refused = [&](std::size_t put, std::int64_t length, std::string_view words) {
      const Caught error = caught([&] { exchange.puts()[put].set(length); });
      require(error.code == Errc::invalid_argument &&
                  says(error.message, {words, "chain 'counted 0'", fmt::format("to rank {}", other)}),
              "{}", error.message);
      require(error.fields.chain == "counted 0", "the error is about chain '{}'", error.fields.chain);
    };
    exchange.start(1, {2, 3}, {2, 3});
    exchange.finish();
    refused(0, 6, "it was committed for 5 elements at most");
    refused(0, -1, "a length is 0 or more");
    refused(1, 13, "it was committed for 12 elements at most");
    refused(1, 4, "moves 3 elements, and a length is a multiple of that");
    require(exchange.puts()[0].length() == 2 && exchange.puts()[1].length() == 3,
            "a refused length was taken");
    exchange.start(2, {5, 12}, {5, 12});
    exchange.finish();
  });
}

TEST_P(FabricTest, CountedPutsAreExpectedOneByOne) {
  if (!carries_counted(GetParam(), "")) GTEST_SKIP() << "no counted puts here";
  run(2, [](World& world) {
    const int me = world.rank();
    const Window<int> window = world.window<int>(10);
    Chain chain = world.chain("surplus");
    if (me == 0) {
      static_cast<void>(chain.put_counted(window.on(1), window.at(0), block(2)));
      static_cast<void>(chain.put_counted(window.on(1).at(4), window.at(2), block(2)));
    } else {
      chain.expect_counted(0);
    }
    const Caught error = caught([&] { chain.commit(); });
    require(error.code == Errc::refused &&
                says(error.message, {"rank 0 makes 2 counted puts to rank 1, which expects 1",
                                     "call expect_counted(0) on rank 1 once for each"}),
            "{}", error.message);
    if (me == 1) chain.expect_counted(0);
    chain.commit();
    const std::string explained = chain.explain();
    require(me == 1 || says(explained, {"0 to 8"}), "{}", explained);
  });
}

// An empty layout is a signal, and its length 0.
TEST_P(FabricTest, CountedPutsOfNothing) {
  if (!carries_counted(GetParam(), "")) GTEST_SKIP() << "no counted puts here";
  run(2, [](World& world) {
    const int other = 1 - world.rank();
    const Window<int> window = world.window<int>(2);
    Chain chain = world.chain("empty");
    CountedPut put = chain.put_counted(window.on(other), window.at(0), block(0));
    const CountedArrival come = chain.expect_counted(other);
    chain.commit();
    put.set(0);
    chain.run();
    require(come.count() == 0 && come.capacity() == 0 && put.capacity() == 0, "{} elements came",
            come.count());
    const Caught error = caught([&] { put.set(1); });
    require(error.code == Errc::invalid_argument, "{}", error.message);
    const CountedPut taken = std::move(put);
    const Caught moved = caught([&] { put.set(0); });
    require(moved.code == Errc::invalid_argument && taken.rank() == other, "{}", moved.message);
  });
}

TEST_P(FabricTest, CountedPutsAreRefusedWhereNothingCarriesThem) {
  const bool some = std::ranges::any_of(
      channels(), [&](const std::string& channel) { return !carries_counted(GetParam(), channel); });
  if (!some) GTEST_SKIP() << "all channels carry them";
  for (const std::string& channel : channels()) {
    if (carries_counted(GetParam(), channel)) continue;
    if (GetParam().name == "cuda_mpi_by_2" && channel.empty())
      continue;  // the two ranks are in one sub-cluster
    run(2, [&](World& world) {
      const int other = 1 - world.rank();
      const Window<int> window = world.window<int>(2);
      Chain chain = world.chain("refused", {.channel = channel});
      static_cast<void>(chain.put_counted(window.on(other).at(1), window.at(0), block(1)));
      chain.expect_counted(other);
      const Caught error = caught([&] { chain.commit(); });
      require(error.code == Errc::refused && says(error.message, {"counted puts to"}), "{}", error.message);
    });
  }
}

// A halo whose faces are queues: what goes up and what goes down differ in length, and change in every step.
TEST_P(FabricTest, CountedHalo) {
  if (!carries_counted(GetParam(), "")) GTEST_SKIP() << "no counted puts here";
  const int count = steps(20);
  const auto body = [&](World& world) {
    with_seed(world, [&](unsigned seed) {
      constexpr std::int64_t room = 6;
      const int me = world.rank(), size = world.size();
      for (const bool periodic : {true, false}) {
        Halo halo(world, "queues", Grid(size, {0}, {periodic}), {2 * room}, {.width = {{room, room}}});
        const Window<int> queues = world.window<int>(halo.elements()),
                          field = world.window<int>(halo.elements());
        halo.add(field).add_counted(queues).commit();
        const auto length = [&](int rank, int side, int step) {
          std::mt19937 random(seed + static_cast<unsigned>(100 * step + 10 * rank + side + 1));
          return static_cast<std::int64_t>(random() % (room + 1));
        };
        for (int step = 1; step <= count; ++step) {
          fill(queues, 0, halo.elements(), -1);
          fill(field, 0, halo.elements(), 7 * step + me);
          for (const int side : {-1, 1}) {
            const bool any = periodic || (me + side >= 0 && me + side < size);
            std::optional<CountedPut> put = halo.to(1, {side});
            require(put.has_value() == any, "side {} of rank {}", side, me);
            if (!put) continue;
            const std::int64_t n = length(me, side, step);
            fill(queues, halo.index({side < 0 ? 0 : room}), n, 1000 * step + 10 * me + side);
            put->set(n);
          }
          halo.run();
          for (const int side : {-1, 1}) {
            const std::optional<CountedArrival> come = halo.from(1, {side});
            if (!come) continue;
            const int from = (me + side + size) % size;
            const std::int64_t n = length(from, -side, step);
            require(come->count() == n && come->rank() == from, "{} came from rank {}, not {}", come->count(),
                    from, n);
            for (std::int64_t i = 0; i < room; ++i) {
              const std::int64_t ghost = halo.index({side < 0 ? -room + i : 2 * room + i});
              const int expected = i < n ? 1000 * step + 10 * from - side : -1;
              require(element(queues, ghost) == expected, "ghost {} on side {} is {}, not {}", i, side,
                      element(queues, ghost), expected);
              require(element(field, ghost) == 7 * step + from, "the other field's ghost is {}",
                      element(field, ghost));
            }
          }
        }
        const Caught other = caught([&] { static_cast<void>(halo.to(0, {1})); });
        require(says(other.message, {"field 0 is none that was added by add_counted"}), "{}", other.message);
        const Caught side = caught([&] { static_cast<void>(halo.from(1, {0, 1})); });
        require(says(side.message, {"side {0, 1} in 1 dimensions"}), "{}", side.message);
      }
    });
  };
  run(3, body);
  if (!IsSkipped()) run(2, body);  // where both neighbours are one rank
}

// Each rank sends another number of values to the next one, in as many rounds as the longest takes.
TEST_P(FabricTest, CountedRounds) {
  if (!carries_counted(GetParam(), "")) GTEST_SKIP() << "no counted puts here";
  run(3, [](World& world) {
    constexpr std::int64_t room = 4;
    const int me = world.rank(), size = world.size();
    const Window<int> out = world.window<int>(room), in = world.window<int>(room);
    Chain chain = world.chain("pieces");
    CountedPut sent = chain.put_counted(in.on((me + 1) % size), out.at(0), block(room));
    const CountedArrival come = chain.expect_counted((me + size - 1) % size);
    chain.commit();
    Rounds rounds(world, chain);
    const auto values_of = [](int rank, int base) {
      std::vector<int> values(static_cast<std::size_t>(9 * rank));  // 0, 9 and 18, in pieces of 4
      std::iota(values.begin(), values.end(), base + 100 * rank);
      return values;
    };
    for (const int base : {0, 10'000}) {
      const std::vector<int> values = values_of(me, base);
      std::span<const int> rest = values;
      std::vector<int> got;
      const int took = rounds.run(
          [&] {
            const std::span<const int> piece = rest.first(std::min<std::size_t>(rest.size(), room));
            out.write(0, piece);
            sent.set(piece.size());
            rest = rest.subspan(piece.size());
            return !rest.empty();
          },
          [&] {
            std::vector<int> piece(static_cast<std::size_t>(come.count()));
            in.read(0, piece);
            got.insert(got.end(), piece.begin(), piece.end());
          });
      require(took == 5, "it took {} rounds", took);
      require(got == values_of((me + size - 1) % size, base), "{} other values came", got.size());
    }
  });
}

}  // namespace
}  // namespace tca::test
