// Tests what collectives refuse, what their errors say, and which algorithms they take.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "coll/kernels.hpp"
#include "coll/state.hpp"
#include "core/world/run_threads.hpp"
#include "messages.hpp"
#include "route/choose.hpp"
#include "tca/operations.hpp"

namespace tca::test {
namespace {

using namespace std::chrono_literals;

// Returns whether every rank gets the same refusal, with a message that contains all the parts.
testing::AssertionResult all_refused(int ranks, std::initializer_list<std::string_view> parts,
                                     const std::function<void(World&)>& body) {
  const std::vector<Caught> all = caught_by_ranks(ranks, body);
  for (const Caught& error : all) {
    if (error.code != Errc::refused) return testing::AssertionFailure() << error.message;
    if (error.message != all[0].message)
      return testing::AssertionFailure() << error.message << "\nis not\n" << all[0].message;
    if (const auto result = says(error.message, parts); !result) return result;
  }
  return testing::AssertionSuccess();
}

TEST(Coll, RefusesAnotherCount) {
  EXPECT_TRUE(all_refused(3, {"allreduce 'sum' refused", "rank 0 has a count of 4, rank 2 a count of 5"},
                          [](World& world) { AllReduce<double>(world, "sum", world.rank() == 2 ? 5 : 4); }));
}

TEST(Coll, RefusesAnotherRoot) {
  EXPECT_TRUE(all_refused(2, {"broadcast 'w' refused", "rank 0 has root 0, rank 1 root 1"},
                          [](World& world) { Broadcast<int>(world, "w", 3, world.rank()); }));
}

TEST(Coll, RefusesAnotherOperation) {
  EXPECT_TRUE(all_refused(2, {"rank 0 has max, rank 1 sum"}, [](World& world) {
    ReduceScatter<int>(world, "s", 3, world.rank() == 0 ? ReduceOp::max : ReduceOp::sum);
  }));
  EXPECT_TRUE(all_refused(2, {"rank 0 has product, rank 1 an operation of its own"}, [](World& world) {
    const Operation<int> own = [](int a, int b) { return a * b; };
    AllReduce<int>(world, "p", 3, world.rank() == 0 ? Operation<int>(ReduceOp::product) : own);
  }));
}

TEST(Coll, RefusesAnotherName) {
  EXPECT_TRUE(all_refused(2, {"rank 0 makes the memory of allreduce 'y', rank 1 the memory of allreduce 'x'"},
                          [](World& world) { AllReduce<int>(world, world.rank() == 0 ? "y" : "x"); }));
  EXPECT_TRUE(all_refused(2, {"allreduce 'y' refused", "rank 0 has the name 'y', rank 1 the name 'x'"},
                          [](World& world) {
                            const auto sum = world.window<int>(1);
                            AllReduce<int>(world, world.rank() == 0 ? "y" : "x", sum, 1);
                          }));
}

TEST(Coll, RefusesAnotherKind) {
  EXPECT_TRUE(all_refused(2,
                          {"rank 0 is in creation of the memory of barrier 'x', rank 1 in creation of the "
                           "memory of allgather 'x'; every rank must make the same collective calls"},
                          [](World& world) {
                            if (world.rank() == 0)
                              Barrier(world, "x");
                            else
                              AllGather<double>(world, "x", 1);
                          }));
  EXPECT_TRUE(all_refused(3, {"rank 0 has broadcast, rank 1, 2 allgather"}, [](World& world) {
    const auto window = world.window<double>(3);
    if (world.rank() == 0)
      Broadcast<double>(world, "x", window, 1);
    else
      AllGather<double>(world, "x", window, 1);
  }));
}

TEST(Coll, RefusesOtherElementsAndBuffers) {
  EXPECT_TRUE(all_refused(
      2,
      {"rank 0 makes the memory of broadcast 'w' of 4-byte elements, rank 1 the memory of "
       "broadcast 'w' of 8-byte elements"},
      [](World& world) {
        world.rank() == 0 ? void(Broadcast<float>(world, "w", 3)) : void(Broadcast<double>(world, "w", 3));
      }));
  EXPECT_TRUE(all_refused(2, {"rank 0 has one buffer, rank 1 two buffers"}, [](World& world) {
    const auto a = world.window<int>(6), b = world.window<int>(6);
    world.rank() == 0 ? void(AllToAll<int>(world, "a", a, 3)) : void(AllToAll<int>(world, "a", a, b, 3));
  }));
}

TEST(Coll, RefusesWhatCannotBe) {
  EXPECT_TRUE(all_refused(2, {"rank 1: a block of -1 elements is negative"},
                          [](World& world) { AllGather<int>(world, "g", world.rank() == 1 ? -1 : 2); }));
  EXPECT_TRUE(all_refused(2, {"rank 0, 1: there is no root 2 in a world of 2"},
                          [](World& world) { Broadcast<int>(world, "w", 1, 2); }));
  EXPECT_TRUE(
      all_refused(2, {"rank 1: window 0, its output, has 7 elements, 8 are needed"}, [](World& world) {
        const auto window = world.window<int>(world.rank() == 1 ? 7 : 8);
        AllGather<int>(world, "g", window, 4);
      }));
}

// The types have the same size.
TEST(Coll, RefusesAnotherType) {
  const auto refuses_types = [](auto first, auto second, std::initializer_list<std::string_view> parts) {
    EXPECT_TRUE(all_refused(2, parts, [](World& world) {
      world.rank() == 0 ? void(AllReduce<decltype(first)>(world, "r", 3))
                        : void(AllReduce<decltype(second)>(world, "r", 3));
    }));
  };
  refuses_types(1.0f, 1, {"rank 0 has elements of float, rank 1 elements of int32"});
  refuses_types(1, 1u, {"rank 0 has elements of int32, rank 1 elements of uint32"});
  refuses_types(1.0, std::int64_t{1}, {"rank 0 has elements of double, rank 1 elements of int64"});
  World::run_threads(2, [](World& world) {
    EXPECT_EQ(world.rank() == 0 ? AllReduce<long>(world, "r").reduce(1)
                                : AllReduce<long long>(world, "r").reduce(1),
              2);
  });
}

// A put names the sender's own window, so all ranks must pass the same one.
TEST(Coll, RefusesOtherWindows) {
  EXPECT_TRUE(all_refused(
      2, {"broadcast 'w' refused, every", "rank 0 has window 0 as input, rank 1 window 1"}, [](World& world) {
        const auto a = world.window<int>(4), b = world.window<int>(4);
        Broadcast<int>(world, "w", world.rank() == 0 ? a : b, 4);
      }));
  EXPECT_TRUE(all_refused(2, {"rank 0 has window 0 as input, rank 1 window 1 as input"}, [](World& world) {
    const auto a = world.window<int>(4), b = world.window<int>(4);
    const bool first = world.rank() == 0;
    AllReduce<int>(world, "r", first ? a : b, first ? b : a, 4);
  }));
  EXPECT_TRUE(all_refused(2, {"rank 0 has window 1 as output, rank 1 window 2 as output"}, [](World& world) {
    const auto a = world.window<int>(4), b = world.window<int>(8), c = world.window<int>(8);
    AllGather<int>(world, "g", a, world.rank() == 0 ? b : c, 4);
  }));
}

TEST(Coll, RefusesAFunctionThatIsNone) {
  EXPECT_TRUE(all_refused(2, {"rank 1: its operation is an empty function"}, [](World& world) {
    std::function<int(int, int)> add;
    if (world.rank() == 0) add = [](int a, int b) { return a + b; };
    AllReduce<int>(world, "r", 1, add);
  }));
}

// One rank alone refuses its arguments, before it has allocated any memory.
TEST(Coll, RefusesForAllWhatOneCannotCount) {
  EXPECT_TRUE(all_refused(3, {"rank 0 to 2: a block of", "overflows"}, [](World& world) {
    const auto window = world.window<double>(4);
    AllReduce<double>(world, "r", window, std::numeric_limits<std::int64_t>::max() / 2);
  }));
  EXPECT_TRUE(all_refused(2, {"rank 1: a block of", "overflows"}, [](World& world) {
    AllGather<double>(world, "g", world.rank() == 1 ? std::int64_t{1} << 60 : 1);
  }));
  EXPECT_TRUE(all_refused(2, {"rank 0: a time limit of 0 ms cannot be met"}, [](World& world) {
    Barrier(world, "b", {.time_limit = world.rank() == 0 ? 0ms : 1000ms});
  }));
}

// The buffers are one window, or two windows whose memory overlaps on one rank alone.
TEST(Coll, RefusesOverlappingBuffers) {
  EXPECT_TRUE(all_refused(2, {"rank 0, 1: 2 elements (8 bytes) are input and output", "give the window once"},
                          [](World& world) {
                            const auto window = world.window<int>(4);
                            AllGather<int>(world, "g", window, window, 2);
                          }));
  EXPECT_TRUE(all_refused(2, {"3 elements (12 bytes) are input and output"}, [](World& world) {
    const auto window = world.window<int>(6);
    ReduceScatter<int>(world, "s", window, window, 3);
  }));
  for (const bool all_reduce : {false, true}) {
    EXPECT_TRUE(all_refused(2, {"\n  rank 1: 1 element (4 bytes) are input and output"}, [&](World& world) {
      std::vector<int> memory(8);
      const auto from = world.window(memory.data(), 4);
      const auto to = world.window(memory.data() + (world.rank() == 0 ? 4 : 3), 4);
      all_reduce ? void(AllReduce<int>(world, "r", from, to, 4))
                 : void(AllToAll<int>(world, "a", from, to, 2));
    }));
  }
  World::run_threads(2, [](World& world) {
    const auto window = world.window<int>(3);
    AllReduce<int> sum(world, "r", window, window, 3);
    window[1] = 1 + world.rank();
    sum.run();
    EXPECT_EQ(window[1], 3);
  });
}

TEST(Coll, RefusesAnAlgorithmThatIsNotThere) {
  EXPECT_TRUE(all_refused(2,
                          {"rank 1: broadcast of 2 ranks has no algorithm 'tree'; there are", "binomial",
                           "flat", "scatter_allgather", "ring"},
                          [](World& world) {
                            Broadcast<int>(world, "w", 1, 0, {.algorithm = world.rank() == 1 ? "tree" : ""});
                          }));
  // The blocks of a ring begin with a rank in the middle, which an operation that does not commute would
  // show.
  EXPECT_TRUE(all_refused(2, {"has no algorithm 'ring'"}, [](World& world) {
    AllReduce<int>(world, "r", 1, [](int a, int) { return a; }, {.algorithm = "ring"});
  }));
}

TEST(Coll, TakesAlgorithmsByTheirFormerNames) {
  World::run_threads(4, [](World& world) {
    EXPECT_EQ(Barrier(world, "b", {.algorithm = "one_shot"}).algorithm(), "flat");
    EXPECT_EQ(Broadcast<int>(world, "w", 8, 0, {.algorithm = "split"}).algorithm(), "scatter_allgather");
    EXPECT_EQ(AllReduce<int>(world, "r", 8, ReduceOp::sum, {.algorithm = "split"}).algorithm(),
              "reduce_scatter_allgather");
  });
}

// Collectives that allocate their own memory: checks where each has its input and its result.
TEST(Coll, MemoryOfItsOwn) {
  constexpr std::size_t count = 2, ranks = 3;
  World::run_threads(ranks, [](World& world) {
    const auto me = static_cast<std::size_t>(world.rank());
    const auto expect_sizes = [](const auto& coll, std::size_t from, std::size_t to, bool in_place) {
      EXPECT_EQ(coll.from().size(), from);
      EXPECT_EQ(coll.to().size(), to);
      EXPECT_EQ(coll.from().data() == coll.to().data(), in_place);
    };
    Broadcast<int> broadcast(world, "b", count);
    expect_sizes(broadcast, count, count, true);
    if (me == 0) broadcast.from()[1] = 5;
    broadcast.run();
    EXPECT_EQ(broadcast.to()[1], 5);

    AllGather<int> gather(world, "g", count);
    expect_sizes(gather, ranks * count, ranks * count, true);
    gather.from()[me * count] = 10 + world.rank();
    gather.run();
    for (std::size_t rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(gather.to()[rank * count], 10 + static_cast<int>(rank));

    AllReduce<int> sum(world, "r", count);
    expect_sizes(sum, count, count, true);
    sum.from()[0] = 1;
    sum.run();
    EXPECT_EQ(sum.to()[0], 3);

    ReduceScatter<int> scatter(world, "s", count);
    expect_sizes(scatter, ranks * count, count, false);
    for (std::size_t rank = 0; rank < ranks; ++rank) scatter.from()[rank * count] = static_cast<int>(rank);
    scatter.run();
    EXPECT_EQ(scatter.to()[0], 3 * world.rank());

    AllToAll<int> turn(world, "a", count);
    expect_sizes(turn, ranks * count, ranks * count, false);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      turn.from()[rank * count] = 10 * world.rank() + static_cast<int>(rank);
    turn.run();
    for (std::size_t rank = 0; rank < ranks; ++rank)
      EXPECT_EQ(turn.to()[rank * count], 10 * static_cast<int>(rank) + world.rank());
  });
}

TEST(Coll, OperationsKeepTheOrderOfRanks) {
  for (const char* algorithm : {"flat", "recursive_doubling", "reduce_scatter_allgather"}) {
    World::run_threads(7, [&](World& world) {
      AllReduce<std::int64_t> digits(world, "digits", 9,
                                     [](std::int64_t a, std::int64_t b) {
                                       std::int64_t shift = 10;
                                       while (shift <= b) shift *= 10;
                                       return a * shift + b;
                                     },
                                     {.algorithm = algorithm});
      std::array<std::int64_t, 9> values;
      values.fill(world.rank() + 1);
      digits.reduce_in_place(values);
      for (const std::int64_t value : values) EXPECT_EQ(value, 1234567) << algorithm;
    });
  }
}

TEST(Coll, AnElementOfTheProgramsOwn) {
  struct Extreme {
    double value;
    int rank;
  };
  World::run_threads(3, [](World& world) {
    AllReduce<Extreme> largest(world, "largest", 1,
                               [](Extreme a, Extreme b) { return b.value > a.value ? b : a; });
    EXPECT_EQ(largest.reduce(Extreme{world.rank() == 1 ? 9.5 : 1.5, world.rank()}).rank, 1);
  });
}

template <class T>
void reduces(World& world) {
  EXPECT_EQ(AllReduce<T>(world, "largest", 1, ReduceOp::max).reduce(static_cast<T>(10 + world.rank())),
            T{11});
}

TEST(Coll, EveryArithmeticTypeHasTheOperations) {
  World::run_threads(2, [](World& world) {
    reduces<char>(world);
    reduces<char8_t>(world);
    reduces<char16_t>(world);
    reduces<char32_t>(world);
    reduces<wchar_t>(world);
    reduces<signed char>(world);
    reduces<unsigned short>(world);
    reduces<long long>(world);
    reduces<long double>(world);
  });
  static_assert(!std::is_constructible_v<Operation<bool>, ReduceOp>);
}

template <class T>
void wraps(World& world) {
  const T most = std::numeric_limits<T>::max();
  EXPECT_EQ(AllReduce<T>(world, "product", 1, ReduceOp::product).reduce(most), T{1});
  EXPECT_EQ(AllReduce<T>(world, "sum", 1, ReduceOp::sum).reduce(most), static_cast<T>(most - 1));
}

TEST(Coll, UnsignedNumbersWrap) {
  World::run_threads(2, [](World& world) {
    wraps<unsigned char>(world);
    wraps<unsigned short>(world);
    wraps<char16_t>(world);
    wraps<unsigned>(world);
    wraps<unsigned long>(world);
  });
}

TEST(Coll, SignedNumbersWrap) {
  World::run_threads(2, [](World& world) {
    EXPECT_EQ(AllReduce<int>(world, "sum").reduce(std::numeric_limits<int>::max()), -2);
    EXPECT_EQ(
        AllReduce<short>(world, "product", 1, ReduceOp::product).reduce(std::numeric_limits<short>::min()),
        0);
  });
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  return {Limits::quiet_NaN(),
          -Limits::quiet_NaN(),
          -Limits::infinity(),
          Limits::lowest(),
          T{-1},
          -Limits::denorm_min(),
          -T{0},
          T{0},
          Limits::denorm_min(),
          T{1},
          Limits::infinity()};
}

// What IEEE 754-2019 says, case by case.
template <class T>
T greater(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<T>::quiet_NaN();
  if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <class T>
T lesser(T a, T b) {
  return std::isnan(a) || std::isnan(b) ? std::numeric_limits<T>::quiet_NaN() : -greater(-a, -b);
}

// A long double has bits that mean nothing.
template <class T>
bool same_bits(T a, T b) {
  if (std::isnan(a)) return std::isnan(b) && std::signbit(a) == std::signbit(b);
  return a == b && std::signbit(a) == std::signbit(b);
}

// All pairs of special values, as vectors and the rest behind them, also in place and by single values.
template <class T>
void keep_nans() {
  const std::vector<T> special = special_values<T>();
  std::vector<T> left, right;
  for (const T a : special) {
    for (const T b : special) {
      left.push_back(a);
      right.push_back(b);
    }
  }
  std::vector<T> least(left.size()), greatest = right;
  base::combine_loop(data_type_of<T>(), ReduceOp::min)(least.data(), left.data(), right.data(), left.size());
  base::combine_loop(data_type_of<T>(), ReduceOp::max)(greatest.data(), left.data(), greatest.data(),
                                                       left.size());
  for (std::size_t i = 0; i < left.size(); ++i) {
    const T a = left[i], b = right[i];
    EXPECT_TRUE(same_bits(least[i], lesser(a, b))) << "min of " << a << " and " << b << " is " << least[i];
    EXPECT_TRUE(same_bits(greatest[i], greater(a, b)))
        << "max of " << a << " and " << b << " is " << greatest[i];
    EXPECT_TRUE(same_bits(Min()(a, b), lesser(a, b))) << a << ", " << b;
    EXPECT_TRUE(same_bits(Max()(a, b), greater(a, b))) << a << ", " << b;
  }
}

TEST(Coll, MinAndMaxKeepNansAndTheOrderOfZeros) {
  keep_nans<float>();
  keep_nans<double>();
  keep_nans<long double>();
}

// One rank's NaN must not let the others stop.
TEST(Coll, NobodyConvergesWhereOneResidualIsNan) {
  World::run_threads(4, [](World& world) {
    for (const char* algorithm : {"flat", "recursive_doubling", "split", "ring"}) {
      AllReduce<double> largest(world, "residual", 1, ReduceOp::max, {.algorithm = algorithm});
      const double own[]{1e-9, 1e-9, std::nan(""), 1.0};
      EXPECT_TRUE(std::isnan(largest.reduce(own[world.rank()]))) << algorithm;
    }
  });
}

// Values that have been combined in part must not be combined again.
TEST(Coll, IsOverOnceItsOperationHasThrown) {
  World::run_threads(2, [](World& world) {
    int calls = 0;
    AllReduce<int> sum(world, "sum", 3, [&](int a, int b) {
      if (++calls == 2) throw std::domain_error("these cannot be added");
      return a + b;
    });
    EXPECT_THROW(sum.run(), std::domain_error);
    const auto over = [&](auto call) {
      EXPECT_TRUE(refuses(
          Errc::invalid_argument,
          {"allreduce 'sum' cannot go on: copying or combining its values has failed", "another"}, call));
    };
    over([&] { sum.wait(); });
    over([&] { return sum.test(); });
    over([&] { sum.start(); });
    AllReduce<int> again(world, "sum", 3, ReduceOp::sum);
    std::array<int, 3> values{1, 2, 3};
    again.reduce_in_place(values);
    EXPECT_EQ(values, (std::array{2, 4, 6}));
  });
}

TEST(Coll, NothingAtAll) {
  World::run_threads(2, [](World& world) {
    AllReduce<double> none(world, "none", 0);
    Broadcast<int> nobody(world, "nobody", 0, 1);
    none.run();
    nobody.run();
    EXPECT_TRUE(none.test());
  });
}

TEST(Coll, ChecksItsCalls) {
  World::run_threads(1, [](World& world) {
    AllReduce<double> sum(world, "sum", 2);
    EXPECT_TRUE(refuses(Errc::invalid_argument, {"allreduce 'sum' was made for 2 values and is given 1"},
                        [&] { return sum.reduce(1.0); }));
    sum.start();
    EXPECT_TRUE(refuses(Errc::invalid_argument,
                        {"start of the allreduce 'sum' while a run of it is under way"},
                        [&] { sum.start(); }));
    sum.wait();
  });
}

// The refused call must not touch the input of the run that is under way.
TEST(Coll, RefusesValuesWhileARunIsUnderWay) {
  World::run_threads(2, [](World& world) {
    AllReduce<float> sum(world, "sum");
    sum.from()[0] = 1;
    sum.start();
    EXPECT_TRUE(
        refuses(Errc::invalid_argument, {"a run of it is under way"}, [&] { return sum.reduce(100.0f); }));
    sum.wait();
    EXPECT_EQ(sum.to()[0], 2);
  });
}

using OnStream = void (Collective::*)(Stream);

// Streams are refused even when there is nothing to do, with one rank or no elements.
TEST(Coll, RefusesStreamsWhereThereAreNone) {
  World::run_threads(1, [](World& world) {
    for (const int count : {0, 1}) {
      AllReduce<double> sum(world, "sum", count);
      for (const OnStream call :
           {OnStream{&Collective::start}, OnStream{&Collective::wait}, OnStream{&Collective::run}}) {
        EXPECT_TRUE(refuses(Errc::invalid_argument, {"of the allreduce 'sum' on a stream", "no streams"},
                            [&] { (sum.*call)(Stream{}); }));
      }
      sum.run();
    }
  });
}

// Shared memory with other answers about itself.
struct OtherShm final : public fabric::Fabric, public fabric::Accelerator {
  explicit OtherShm(std::unique_ptr<fabric::Fabric> shm) : inner(std::move(shm)) {}

  std::string_view name() const override { return inner->name(); }
  std::span<const std::string_view> protocols() const override { return inner->protocols(); }
  bool reaches(int rank) const override { return inner->reaches(rank); }
  fabric::Accelerator* accelerator() override { return streams || !ways.empty() ? this : nullptr; }
  fabric::Stager& stager() override { throw std::logic_error("no memory of an accelerator"); }
  std::unique_ptr<fabric::Team> make_team(std::string_view, std::size_t, std::size_t,
                                          std::chrono::milliseconds, const control::Members&) override {
    return nullptr;
  }
  std::unique_ptr<fabric::Collective> make_collective(const fabric::CollectiveTask&) override {
    return nullptr;
  }
  std::unique_ptr<fabric::Fold> make_fold(const fabric::FoldTask&) override { return nullptr; }
  std::unique_ptr<fabric::Fold> make_cell_fold(fabric::Reduction, const DeviceFold&) override {
    return nullptr;
  }
  std::vector<fabric::CollectiveWay> collective_ways(const fabric::CollectiveSpec&) const override {
    return ways;
  }
  std::unique_ptr<fabric::Memory> expose(const fabric::WindowSpec& window) override {
    return inner->expose(window);
  }
  std::unique_ptr<fabric::Offer> offer(const fabric::ChainSpec& share) override {
    return inner->offer(share);
  }
  void put_now(fabric::Memory& memory, int rank, std::uint64_t offset,
               std::span<const std::byte> value) override {
    inner->put_now(memory, rank, offset, value);
  }
  void trace_to(base::Trace* trace) override { inner->trace_to(trace); }
  void progress() override { inner->progress(); }

  std::unique_ptr<fabric::Fabric> inner;
  bool streams = false;
  std::vector<fabric::CollectiveWay> ways;
};

// Runs the body on threads, `to_a_sub_cluster` of them to a sub-cluster, over fabrics that `change` has
// changed.
void run_on_other_shm(int ranks, int to_a_sub_cluster, const std::function<void(OtherShm&)>& change,
                      const std::function<void(World&)>& body) {
  const boot::ThreadConnections threads(ranks);
  const auto connect = [&](int rank) {
    boot::Connections made = threads.bring_up(rank, {});
    auto fabric = std::make_unique<OtherShm>(std::move(made.fabrics.front()));
    change(*fabric);
    made.fabrics.front() = std::move(fabric);
    std::vector<int> sub_clusters;
    for (int other = 0; other < ranks; ++other) sub_clusters.push_back(other / to_a_sub_cluster);
    made.places.sub_cluster = std::move(sub_clusters);
    return made;
  };
  core::run_threads(ranks, connect, body, {});
}

TEST(Coll, TheHostCannotWaitForARunOnAStream) {
  run_on_other_shm(
      1, 1, [](OtherShm& shm) { shm.streams = true; },
      [](World& world) {
        AllReduce<int> sum(world, "sum");
        for (const OnStream call : {OnStream{&Collective::start}, OnStream{&Collective::run}}) {
          (sum.*call)(Stream{});
          for (const bool by_test : {false, true}) {
            EXPECT_TRUE(
                refuses(Errc::invalid_argument,
                        {"of the allreduce 'sum', whose last run was ordered on a stream", "wait(stream)"},
                        [&] { by_test ? void(sum.test()) : sum.wait(); }));
          }
          sum.wait(Stream{});
          sum.start();
          sum.wait();
        }
      });
}

TEST(Coll, AForcedRouteLeavesNoKernels) {
  const auto with_kernels = [](OtherShm& shm) { shm.ways = {{"kernel", 1}}; };
  run_on_other_shm(1, 1, with_kernels, [](World& world) {
    const raw::Window input(world, 4, 4), output(world, 4, 4);
    const auto ways = [&](std::string route) {
      const raw::Request request{.kind = CollectiveKind::broadcast,
                                 .name = "b",
                                 .type = DataType::int32,
                                 .element_bytes = 4,
                                 .count = 4,
                                 .options = {.channel = std::move(route)}};
      const coll::Elements elements(request, input, output);
      return coll::kernel_ways(core::WorldState::of(world), request, elements).size();
    };
    EXPECT_EQ(ways(""), 1u);
    EXPECT_EQ(ways("staged"), 0u);
    setenv("OPENTCA_CHANNEL", "staged", 1);
    EXPECT_EQ(ways(""), 0u);
    unsetenv("OPENTCA_CHANNEL");
  });
}

// A collective's put to another sub-cluster costs as much as a chain's.
TEST(Coll, CostsAreThoseOfTheRoute) {
  run_on_other_shm(
      2, 1, [](OtherShm&) {},
      [](World& world) {
        const core::WorldState& state = core::WorldState::of(world);
        const coll::WorldCosts costs(state, 8);
        const int me = world.rank(), other = 1 - me;
        for (const std::int64_t count : {1, 1000, 100000}) {
          const Layout layout = block(count);
          const route::Put put{other, base::pair_up(layout, layout, 8)};
          double least = std::numeric_limits<double>::max();
          for (const route::Candidate& candidate : route::candidates(state.fabrics(), state.costs(), put, {}))
            least = std::min(least, candidate.predicted_us.value_or(least));
          EXPECT_EQ(costs.put_us(me, {.to = other, .count = count}), least);
        }
        EXPECT_EQ(state.costs().distance_to(*state.fabrics().front(), other), route::Distance::far);
      });
}

// Of many ranks only a few are examined, which have no part in most rounds of a ring.
TEST(Coll, ARingOfManyRanksIsNotTakenForFree) {
  struct Flat final : coll::Costs {
    using Costs::Costs;
    double put_us(int, const coll::Put& put) const override {
      return 1 + 1e-3 * static_cast<double>(put.count);
    }
  };
  const std::vector<int> together(1000);
  const Flat costs(8, together);
  for (const CollectiveKind kind : {CollectiveKind::broadcast, CollectiveKind::all_reduce}) {
    const std::vector<coll::Candidate> all =
        coll::candidates({kind, 0, 1000, 0, 1, true, false, together}, costs);
    const auto ring = std::ranges::find(all, "ring", &coll::Candidate::name);
    ASSERT_NE(ring, all.end());
    EXPECT_GT(ring->predicted_us, 999 * costs.latency_us);
    EXPECT_NE(all.front().name, "ring");
  }
}

TEST(Coll, ATimeLimitNamesCollectiveRoundAndRank) {
  const std::vector<Caught> all = caught_by_ranks(3, [](World& world) {
    // The direct protocol stores straight into place and so waits for the receiver. With the staged protocol,
    // the root would complete its step by itself.
    Broadcast<int> weights(world, "weights", 100, 0,
                           {.algorithm = "binomial", .channel = "direct", .time_limit = 200ms});
    weights.run();
    if (world.rank() != 1) weights.run();
    std::this_thread::sleep_for(world.rank() == 1 ? 600ms : 0ms);
  });
  EXPECT_EQ(all[0].code, Errc::timed_out) << all[0].message;
  EXPECT_TRUE(says(all[0].message,
                   {"rank 0 waited", "in step 2 of chain 'weights: broadcast by binomial, round 1 of 2'",
                    "for rank 1, which has not signalled"}));
}

// The error names a partner that has ended, too.
TEST(Coll, ALostRankIsNamed) {
  const std::vector<Caught> all = caught_by_ranks(2, [](World& world) {
    Barrier barrier(world, "end of step");
    if (world.rank() == 0) barrier.run();
  });
  EXPECT_EQ(all[0].code, Errc::rank_lost);
  EXPECT_TRUE(says(all[0].message, {"rank 1", "chain 'end of step: barrier by flat, round 1 of 1'"}));
}

TEST(Coll, TakesOneRoundForFewBytesAndSharesOutMany) {
  World::run_threads(4, [](World& world) {
    EXPECT_EQ(AllReduce<double>(world, "few", 1).algorithm(), "flat");
    EXPECT_EQ(AllReduce<double>(world, "many", 1 << 20).algorithm(), "reduce_scatter_allgather");
    EXPECT_NE(Broadcast<double>(world, "wide", 1 << 20).algorithm(), "flat");
  });
}

TEST(Coll, ExplainsItsChoice) {
  World::run_threads(2, [](World& world) {
    const std::string text = Broadcast<double>(world, "w", 10).explain();
    EXPECT_TRUE(says(text, {"broadcast 'w', 10 elements of 8 bytes", "(taken): predicted", "binomial",
                            "scatter_allgather", "ring", "chain 'w: broadcast by"}));
  });
}

// An algorithm with a lower prediction than the chosen one has a remark that explains why it was not chosen.
TEST(Coll, ExplainsWhyTheLeastIsNotTaken) {
  run_on_other_shm(
      6, 3, [](OtherShm&) {},
      [](World& world) {
        std::istringstream lines(AllReduce<double>(world, "r", 3000).explain());
        double taken_us = -1;
        bool remarked = false;
        const std::string predicted = "predicted ";
        for (std::string line; std::getline(lines, line) && line.find("chain '") == std::string::npos;) {
          const std::size_t at = line.find(predicted);
          if (at == std::string::npos) continue;
          const double us = std::stod(line.substr(at + predicted.size()));
          if (line.find("(taken)") != std::string::npos) taken_us = us;
          remarked |= line.find("flat_to_leaders: ") != std::string::npos &&
                      line.find("us, meant for fewer bytes") != std::string::npos;
          if (line.find("meant for") == std::string::npos) {
            EXPECT_GE(us, taken_us) << line;
          }
        }
        EXPECT_GE(taken_us, 0);
        EXPECT_TRUE(remarked);
      });
}

// Between `start` and `wait` the buffers belong to the collective, after `wait` to the program until the next
// start.
TEST(Coll, LeavesTheOutputAloneUntilTheNextStart) {
  for (const char* algorithm : {"flat", "dissemination", "ring"}) {
    World::run_threads(3, [&](World& world) {
      AllGather<int> gather(world, "g", 2, {.algorithm = algorithm});
      const auto mine = static_cast<std::size_t>(2 * world.rank());
      for (int step = 1; step < 200; ++step) {
        gather.to()[mine] = gather.to()[mine + 1] = step;
        gather.start();
        gather.wait();
        if (world.rank() == step % 3) std::this_thread::sleep_for(20us);
        for (const int value : gather.to().elements()) ASSERT_EQ(value, step) << algorithm;
      }
    });
  }
}

}  // namespace
}  // namespace tca::test
