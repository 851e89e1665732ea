// Tests mistakes in the use of windows and chains that concern one rank alone, and what a chain says about
// itself.
#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <limits>

#include "boot/bring_up.hpp"
#include "messages.hpp"

namespace tca::test {
namespace {

// Runs the body in a world of one rank, which suffices for mistakes that concern one rank alone.
void alone(const std::function<void(World&)>& body) { World::run_threads(1, body); }

testing::AssertionResult is_wrong(std::initializer_list<std::string_view> parts,
                                  const std::function<void()>& run) {
  return refuses(Errc::invalid_argument, parts, run);
}

TEST(Chain, StartsOnlyOnceCommitted) {
  alone([](World& world) {
    Chain chain = world.chain("early");
    EXPECT_TRUE(is_wrong({"start of chain 'early' before its commit"}, [&] { chain.start(); }));
    EXPECT_TRUE(is_wrong({"wait of chain 'early' before its commit"}, [&] { chain.wait(); }));
    EXPECT_TRUE(is_wrong({"test of chain 'early' before its commit"}, [&] { return chain.test(); }));
  });
}

TEST(Chain, StartsOnlyOnceAStep) {
  World::run_threads(2, [](World& world) {
    Chain chain = world.chain("eager");
    chain.signal(1 - world.rank()).expect(1 - world.rank()).commit();
    if (world.rank() == 0) {
      chain.start();  // cannot finish: the other rank has not started
      EXPECT_FALSE(chain.test());
      EXPECT_TRUE(is_wrong({"start of chain 'eager' while its step 1 is under way", "wait for it first"},
                           [&] { chain.start(); }));
    }
    world.barrier();
    if (world.rank() == 1) chain.start();
    chain.wait();
  });
}

// What was moved from says so, and a window that was has no elements.
TEST(World, HandlesThatWereMovedFromSaySo) {
  alone([](World& world) {
    Window<int> window = world.window<int>(4);
    const Window<int> kept = window, moved = std::move(window);
    EXPECT_EQ(moved.data(), kept.data());
    EXPECT_EQ(window.data(), nullptr);  // NOLINT: used after the move on purpose, as all below
    EXPECT_EQ(window.size(), 0u);
    EXPECT_EQ(window.begin(), window.end());
    Chain chain = world.chain("here");
    const auto gone = [](const char* what, const std::function<void()>& call) {
      return is_wrong({std::string("this ") + what + " was moved from"}, call);
    };
    int value = 0;
    EXPECT_TRUE(gone("window", [&] { return window.on(0); }));
    EXPECT_TRUE(gone("window", [&] { return window.size_on(0); }));
    EXPECT_TRUE(gone("window", [&] { return window.number(); }));
    EXPECT_TRUE(gone("window", [&] { return window.device(); }));
    EXPECT_TRUE(gone("window", [&] { window.read(0, {&value, 1}); }));
    EXPECT_TRUE(gone("window", [&] { window.write(0, {&value, 1}); }));
    EXPECT_TRUE(gone("source", [&] { chain.put(kept.on(0), window.at(0), block(1)); }));
    Remote<int> remote = kept.on(0);
    const Remote<int> next = std::move(remote).at(1);
    EXPECT_TRUE(gone("element of a window", [&] { remote.put(1); }));
    EXPECT_TRUE(gone("target", [&] { chain.put(remote, kept.at(0), block(1)); }));
    next.put(7);

    Halo halo(world, "ghosts", Grid(1, {1}), {2});
    const Halo other_halo = std::move(halo);
    EXPECT_TRUE(gone("halo", [&] { halo.add(kept); }));
    EXPECT_TRUE(gone("halo", [&] { halo.commit(); }));
    EXPECT_TRUE(gone("chain", [&] { halo.start(); }));
    AllReduce<int> sum(world, "sum");
    const AllReduce<int> other_sum = std::move(sum);
    EXPECT_TRUE(gone("collective", [&] { return sum.reduce(1); }));
    EXPECT_TRUE(gone("collective", [&] { sum.wait(); }));
    EXPECT_TRUE(gone("collective", [&] { return sum.explain(); }));
    const Chain other_chain = std::move(chain);
    EXPECT_TRUE(gone("chain", [&] { chain.expect(0); }));
    EXPECT_TRUE(gone("chain", [&] { chain.start(); }));
    EXPECT_TRUE(gone("chain", [&] { return chain.name(); }));
    World other_world = std::move(world);
    EXPECT_TRUE(gone("world", [&] { return world.rank(); }));
    EXPECT_TRUE(gone("world", [&] { return world.window<int>(1); }));
    EXPECT_TRUE(gone("world", [&] { return world.chain("late"); }));
    EXPECT_TRUE(gone("world", [&] { Barrier(world, "late"); }));
    EXPECT_TRUE(gone("world", [&] { world.barrier(); }));
    world = std::move(other_world);
    EXPECT_EQ(world.size(), 1);
  });
}

TEST(Chain, IsFixedByCommit) {
  alone([](World& world) {
    const Window<int> window = world.window<int>(4);
    Chain chain = world.chain("fixed");
    chain.signal(0).expect(0).commit();
    const auto too_late = [](const std::string& call, const std::function<void()>& run) {
      return is_wrong({call, " on chain 'fixed' after its commit; make a new chain"}, run);
    };
    EXPECT_TRUE(too_late("put", [&] { chain.put(window.on(0).at(0), window.at(2), block(1)); }));
    EXPECT_TRUE(too_late("signal", [&] { chain.signal(0); }));
    EXPECT_TRUE(too_late("expect", [&] { chain.expect(0); }));
    EXPECT_TRUE(too_late("commit", [&] { chain.commit(); }));
  });
}

TEST(Chain, WaitWithoutAStartReturns) {
  alone([](World& world) {
    Chain chain = world.chain("idle");
    chain.commit();
    EXPECT_TRUE(chain.test());
    chain.wait();
    chain.start();  // a chain without descriptors
    chain.wait();
  });
}

TEST(Chain, KnowsTheRanks) {
  alone([](World& world) {
    const Window<int> window = world.window<int>(4);
    Chain chain = world.chain("far");
    EXPECT_TRUE(
        is_wrong({"signal of chain 'far': there is no rank 1 in a world of 1"}, [&] { chain.signal(1); }));
    EXPECT_TRUE(is_wrong({"expect of chain 'far': there is no rank -1"}, [&] { chain.expect(-1); }));
    EXPECT_TRUE(is_wrong({"window 0: there is no rank 1 in a world of 1"}, [&] { return window.on(1); }));
    EXPECT_TRUE(is_wrong({"there is no rank -2"}, [&] { (void)window.size_on(-2); }));
  });
}

TEST(Chain, ChecksTheSource) {
  alone([](World& world) {
    const Window<int> window = world.window<int>(10), other = world.window<int>(100);
    Chain chain = world.chain("source");
    EXPECT_TRUE(is_wrong(
        {"put of chain 'source' to rank 0: the source, a block of 6 at element 5, ends behind element 10 of "
         "window 0, which has 10 elements here"},
        [&] { chain.put(other.on(0).at(0), window.at(5), block(6)); }));
    EXPECT_TRUE(is_wrong({"put of chain 'source' to rank 0: a block of 1 at element -1 of the source, window "
                          "0, is negative or overflows"},
                         [&] { chain.put(other.on(0).at(0), window.at(-1), block(1)); }));
    EXPECT_TRUE(is_wrong({"at element -1 of the target, window 1, is negative or overflows"},
                         [&] { chain.put(other.on(0).at(-1), window.at(0), block(1)); }));
    EXPECT_TRUE(is_wrong({"of the target, window 1, is negative or overflows"}, [&] {
      chain.put(other.on(0).at(std::numeric_limits<std::int64_t>::max() / 2), window.at(0), block(1));
    }));
    EXPECT_TRUE(is_wrong({"of the source, window 0, is negative or overflows"}, [&] {
      chain.put(other.on(0).at(0), window.at(std::numeric_limits<std::int64_t>::max()), block(1));
    }));
    EXPECT_TRUE(is_wrong({"put of chain 'source' to rank 0: 2 elements cannot fill 3"},
                         [&] { chain.put(other.on(0).at(0), block(3), window.at(0), block(2)); }));
  });
}

TEST(Chain, RefusesAnUnknownRoute) {
  alone([](World& world) {
    const Window<int> window = world.window<int>(4);
    Chain chain = world.chain("routed", {.guarded = true, .time_limit = {}, .channel = "teleport"});
    chain.put(window.on(0).at(0), window.at(2), block(1)).expect(0);
    EXPECT_TRUE(refuses(Errc::refused, {"channel 'teleport'", "shm/direct, shm/pull, shm/staged"},
                        [&] { chain.commit(); }));
  });
}

TEST(Chain, ExplainsEveryDescriptor) {
  World::run_threads(2, [](World& world) {
    const Window<double> window = world.window<double>(1 << 20, "u");
    const int other = 1 - world.rank();
    Chain chain = world.chain("faces");
    EXPECT_TRUE(says(chain.explain(), {"chain 'faces'", "not committed yet"}));
    chain.put(window.on(other).at(4), window.at(0), block(1));
    chain.put(window.on(other).at(1000), window.at(500'000), stride(100, 50));
    chain.signal(other).expect(other).commit();
    EXPECT_TRUE(says(
        chain.explain(),
        {fmt::format("chain 'faces' on rank {} of 2, guarded; costs by ", world.rank()),
         fmt::format("\n  0    rank {}  shm/", other), " us  ", "8      block of 1 ",
         "window 'u' at 0       window 'u' at 4     next best shm/",
         fmt::format("\n  1    rank {}  shm/", other), "800    stride of 100, pitch 50  ",
         "window 'u' at 500000  window 'u' at 1000  ",
         fmt::format("\n  2    rank {}  a signal over shm\n", other),
         fmt::format("\n  tells rank {} over shm, once a step, that all puts have come", other),
         fmt::format("\n  expects rank {}, and waits for its signal\n", other), "\n  guard over shm: "}));
  });
}

TEST(Window, RefusesImpossibleSizes) {
  alone([](World& world) {
    static_cast<void>(world.window<char>(1));
    EXPECT_TRUE(is_wrong({"window 1: -1 elements cannot be"}, [&] { return world.window<double>(-1); }));
    EXPECT_TRUE(is_wrong({"window 1: the bytes of 9223372036854775807 elements of 8 overflow 63 bits"},
                         [&] { return world.window<double>(std::numeric_limits<std::int64_t>::max()); }));
    EXPECT_TRUE(is_wrong({"window 1: -9223372036854775808 elements cannot be"},
                         [&] { return world.window<char>(std::numeric_limits<std::size_t>::max()); }));
    EXPECT_TRUE(is_wrong({"window 1: the bytes of 1 elements of 18446744073709551608 overflow 63 bits"},
                         [&] { return raw::Window(world, 1, std::numeric_limits<std::size_t>::max() - 7); }));
  });
}

TEST(Window, TooLargeSaysHowMuchThereIs) {
  struct sysinfo host {};
  ASSERT_EQ(sysinfo(&host), 0);
  const auto ram = static_cast<std::int64_t>(host.totalram) * host.mem_unit;
  for (const Caught& error : caught_by_ranks(2, [&](World& world) { return world.window<char>(ram); })) {
    EXPECT_EQ(error.code, Errc::out_of_memory);
    EXPECT_TRUE(says(error.message, {"window 0 needs", "MiB on all 2 ranks together", "MiB of memory left",
                                     "ask for less"}));
  }
}

TEST(Window, MayBeAsLargeAsOneRankAlone) {
  World::run_threads(3, [](World& world) {
    const Window<int> window = world.window<int>(world.rank() * 10);
    EXPECT_EQ(window.size(), static_cast<std::size_t>(world.rank() * 10));
    for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(window.size_on(rank), static_cast<std::size_t>(rank * 10));
    for (const int element : window.elements()) EXPECT_EQ(element, 0);
  });
}

TEST(Window, ImmediatePutsStayInside) {
  alone([](World& world) {
    const Window<int> window = world.window<int>(4);
    EXPECT_TRUE(is_wrong({"immediate put: there is no element 4 of window 0 on rank 0, which has 4 elements"},
                         [&] { window.on(0).at(4).put(1); }));
    EXPECT_TRUE(is_wrong({"immediate put"}, [&] { window.on(0).at(-1).put(1); }));
    window.on(0).at(3).put(7);
    EXPECT_EQ(window[3], 7);
    // The byte offset of this element would wrap round to element 0.
    EXPECT_TRUE(is_wrong({"there is no element 4611686018427387904 of"},
                         [&] { window.on(0).at(std::int64_t{1} << 62).put(1); }));
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    EXPECT_TRUE(
        is_wrong({"at in window 0: ", "overflows 63 bits"}, [&] { return window.on(0).at(most).at(1); }));
    EXPECT_TRUE(is_wrong({"at in window 0: ", "overflows 63 bits"}, [&] { return window.at(most).at(1); }));
    const std::size_t none = 0;
    EXPECT_TRUE(is_wrong({"at in window 0: an offset of 2", "beyond 63 bits"},
                         [&] { window.on(0).at(2).at(none - 1).put(1); }));
    EXPECT_EQ(window[0], 0);
  });
}

TEST(Window, CopiesToAndFromHostMemory) {
  World::run_threads(2, [](World& world) {
    const Window<int> window = world.window<int>(5), empty = world.window<int>(0);
    const std::array numbers{3, 1, 4};
    window.write(2, numbers);
    EXPECT_EQ((std::vector<int>(window.elements().begin(), window.elements().end())),
              (std::vector{0, 0, 3, 1, 4}));
    std::array<int, 2> two{};
    window.read(3, two);
    EXPECT_EQ(two, (std::array{1, 4}));
    window.read(5, {});
    window.write(5, {});
    empty.read(0, {});
  });
}

TEST(Window, CopiesStayInside) {
  alone([](World& world) {
    static_cast<void>(world.window<char>(1));
    const Window<double> window = world.window<double>(10);
    std::vector<double> six(6);
    EXPECT_TRUE(is_wrong({"read of 6 elements from element 5 on: window 1 has 10 elements on rank 0"},
                         [&] { window.read(5, six); }));
    EXPECT_TRUE(is_wrong({"write of 6 elements from element -1 on: window 1 has 10"},
                         [&] { window.write(-1, six); }));
    EXPECT_TRUE(is_wrong({"write of 6 elements"},
                         [&] { window.write(std::numeric_limits<std::int64_t>::max(), six); }));
    EXPECT_TRUE(is_wrong({"read of 0 elements from element 11 on"}, [&] { window.read(11, {}); }));
    window.read(4, six);
  });
}

TEST(Window, RegistersMemoryOfTheCaller) {
  World::run_threads(3, [](World& world) {
    const int me = world.rank(), right = (me + 1) % 3, left = (me + 2) % 3;
    // Rank 2 registers no memory, and rank 1 lets the library allocate its part.
    std::vector<double> mine(me == 0 ? 8 : 0, 7.0);
    const Window<double> window = me == 1 ? world.window<double>(8) : world.window(mine.data(), mine.size());
    EXPECT_EQ(window.size(), me == 2 ? 0u : 8u);
    EXPECT_EQ(window.size_on(0), 8u);
    EXPECT_EQ(window.data() == mine.data(), me == 0 || me == 2);  // rank 2 has no memory at all
    const Window<double> source = world.window<double>(1);
    source[0] = me;
    Chain chain = world.chain("into what there was");
    if (right != 2) chain.put(window.on(right).at(3), source.at(0), block(1));
    if (me != 2) chain.expect(left);
    chain.commit();
    chain.start();
    chain.wait();
    const std::vector<double> expected{7, 7, 7, 2, 7, 7, 7, 7};
    EXPECT_EQ(mine, me == 0 ? expected : std::vector<double>());
    EXPECT_EQ(window.size() > 3 ? window[3] : -1, me == 0 ? 2 : me == 1 ? 0 : -1);
    world.barrier();  // no rank frees memory into which others write
  });
}

TEST(Window, RefusesMemoryThatIsNotThere) {
  alone([](World& world) {
    int* const nothing = nullptr;
    EXPECT_TRUE(is_wrong({"window 0: no memory is given for 3 elements; leave the pointer out"},
                         [&] { return world.window(nothing, 3); }));
    EXPECT_TRUE(is_wrong({"-1 elements"}, [&] { return world.window(nothing, -1); }));
    EXPECT_EQ(world.window(nothing, 0).size(), 0u);
  });
}

TEST(Window, IsNotForKernelsWhereTheFabricHasNone) {
  alone([](World& world) {
    const Window<double> window = world.window<double>(3);
    EXPECT_TRUE(is_wrong({"device() of window 0", "the fabric shm", "OPENTCA_FABRIC"},
                         [&] { (void)window.device(); }));
  });
}

TEST(Stream, IsRefusedWhereTheFabricHasNone) {
  alone([](World& world) {
    const Stream stream = nullptr;
    Chain chain = world.chain("host");
    EXPECT_TRUE(is_wrong({"start of chain 'host' before its commit"}, [&] { chain.start(stream); }));
    EXPECT_TRUE(is_wrong({"device() of chain 'host' before its commit"}, [&] { (void)chain.device(); }));
    EXPECT_TRUE(is_wrong({"doorbell() of chain 'host' before its commit"}, [&] { (void)chain.doorbell(); }));
    chain.signal(0).expect(0).commit();
    EXPECT_TRUE(
        is_wrong({"start of chain 'host' on a stream: the fabric shm has no streams", "OPENTCA_FABRIC"},
                 [&] { chain.start(stream); }));
    EXPECT_TRUE(is_wrong({"wait of chain 'host' on a stream"}, [&] { chain.wait(stream); }));
    EXPECT_TRUE(is_wrong({"run of chain 'host' on a stream"}, [&] { chain.run(stream); }));
    EXPECT_TRUE(is_wrong({"device() of chain 'host'", "the fabric shm"}, [&] { (void)chain.device(); }));
    EXPECT_TRUE(is_wrong({"doorbell() of chain 'host'", "engine_blocks"}, [&] { (void)chain.doorbell(); }));
    chain.start();  // none of these calls began a step
    EXPECT_TRUE(is_wrong({"run of chain 'host' while its step 1 is under way"}, [&] { chain.run(stream); }));
    chain.wait();
    world.check();  // there is no error to throw
  });
}

TEST(World, TakesItsFabricFromOptionsThenFromTheEnvironment) {
  const auto fabric_of = [](const std::string& asked) {
    std::string text;
    World::run_threads(1, [&](World& world) { text = world.describe(); }, {.fabric = asked});
    return text.substr(text.find("fabric "));
  };
  EXPECT_EQ(fabric_of(""), "fabric shm");
  setenv("OPENTCA_FABRIC", "", 1);
  EXPECT_EQ(fabric_of(""), "fabric shm");
  setenv("OPENTCA_FABRIC", "carrier pigeon", 1);
  EXPECT_TRUE(is_wrong({"OPENTCA_FABRIC is 'carrier pigeon', and there is no such fabric; there are shm, "
                        "cuda, mpi, shm+mpi, cuda+mpi and sim"},
                       [&] { fabric_of(""); }));
  EXPECT_EQ(fabric_of("shm"), "fabric shm");
  unsetenv("OPENTCA_FABRIC");
  EXPECT_TRUE(is_wrong({"option fabric is 'SHM', and there is no such fabric"}, [&] { fabric_of("SHM"); }));
}

TEST(World, SaysThatItWasBuiltWithoutCuda) {
  if (boot::built_with_cuda()) GTEST_SKIP() << "it was built with CUDA";
  setenv("OPENTCA_FABRIC", "cuda", 1);
  EXPECT_TRUE(
      is_wrong({"fabric cuda (OPENTCA_FABRIC): this OpenTCA was built without CUDA; install the toolkit"},
               [] { World::run_threads(1, [](World&) {}); }));
  EXPECT_TRUE(is_wrong({"built without CUDA"}, [] { return World::init(); }));
  unsetenv("OPENTCA_FABRIC");
}

TEST(World, WaitsForHalfAMinuteUnlessToldOtherwise) {
  EXPECT_EQ(WorldOptions{}.time_limit, std::chrono::seconds(30));
}

TEST(World, RefusesImpossibleNumbers) {
  EXPECT_TRUE(is_wrong({"device -2"}, [] { World::run_threads(1, [](World&) {}, {.device = -2}); }));
  EXPECT_TRUE(
      is_wrong({"engine_blocks -1"}, [] { World::run_threads(1, [](World&) {}, {.engine_blocks = -1}); }));
  EXPECT_TRUE(is_wrong({"0 ranks"}, [] { World::run_threads(0, [](World&) {}); }));
  EXPECT_TRUE(is_wrong({"time limit of 0 ms"}, [] {
    World::run_threads(1, [](World&) {}, {.time_limit = std::chrono::milliseconds(0)});
  }));
  alone([](World& world) {
    EXPECT_TRUE(is_wrong({"chain 'hasty': a time limit of -5 ms cannot be met"}, [&] {
      return world.chain("hasty", {.time_limit = std::chrono::milliseconds(-5)});
    }));
  });
  setenv("OPENTCA_TIME_LIMIT", "soon", 1);
  EXPECT_TRUE(is_wrong({"OPENTCA_TIME_LIMIT=soon is not a number of seconds"},
                       [] { World::run_threads(1, [](World&) {}); }));
  setenv("OPENTCA_TIME_LIMIT", "0.0001", 1);
  EXPECT_TRUE(is_wrong({"OPENTCA_TIME_LIMIT=0.0001 is not a number of seconds from 0.001"},
                       [] { World::run_threads(1, [](World&) {}); }));
  unsetenv("OPENTCA_TIME_LIMIT");
}

TEST(World, ChecksStepsWhereTheEnvironmentSaysSo) {
  const auto waits = [](World& world) {
    Chain chain = world.chain("idle");
    chain.signal(0).expect(0).commit();
    chain.run();
    chain.wait();
  };
  EXPECT_NO_THROW(alone(waits));
  setenv("OPENTCA_CHECK", "1", 1);
  EXPECT_TRUE(
      is_wrong({"wait of chain 'idle' without a start", "step 1", "OPENTCA_CHECK"}, [&] { alone(waits); }));
  setenv("OPENTCA_CHECK", "yes", 1);
  EXPECT_TRUE(is_wrong({"OPENTCA_CHECK=yes is neither 0 nor 1"}, [&] { alone(waits); }));
  unsetenv("OPENTCA_CHECK");
}

TEST(World, SettingsAreCheckedWithoutOne) {
  setenv("OPENTCA_CUDA_AWARE", "perhaps", 1);
  EXPECT_TRUE(is_wrong({"OPENTCA_CUDA_AWARE=perhaps"}, [] { tca::boot::check_environment("cuda+mpi"); }));
  EXPECT_NO_THROW(tca::boot::check_environment("mpi"));
  unsetenv("OPENTCA_CUDA_AWARE");
  setenv("OPENTCA_PROGRESS_THREAD", "2", 1);
  EXPECT_TRUE(
      is_wrong({"OPENTCA_PROGRESS_THREAD=2 is neither"}, [] { tca::boot::check_environment("mpi"); }));
  unsetenv("OPENTCA_PROGRESS_THREAD");
}

TEST(World, GathersInRankOrder) {
  World::run_threads(4, [](World& world) {
    EXPECT_EQ(world.all_gather(world.rank() * 3), (std::vector{0, 3, 6, 9}));
    struct Big {
      std::array<char, 40'000> bytes;
    };
    Big mine;
    mine.bytes.fill(static_cast<char>('a' + world.rank()));
    const std::vector<Big> all = world.all_gather(mine);  // exceeds a mailbox
    for (std::size_t rank = 0; rank < 4; ++rank)
      EXPECT_EQ(all[rank].bytes[39'999], static_cast<char>('a' + rank));
  });
}

TEST(World, SaysWhatItIs) {
  World::run_threads(2, [](World& world) {
    EXPECT_TRUE(says(world.describe(),
                     {fmt::format("rank {} of 2 (threads)", world.rank()), "fabric shm", library_version()}));
  });
}

TEST(Chain, RefusesAWindowOfAnotherWorld) {
  alone([](World& outer) {
    const Window<int> foreign = outer.window<int>(4);
    alone([&](World& world) {
      const Window<int> own = world.window<int>(4);
      Chain chain = world.chain("mixed");
      EXPECT_TRUE(is_wrong({"put of chain 'mixed' to rank 0: the target is a window of another world"},
                           [&] { chain.put(foreign.on(0).at(0), own.at(1), block(1)); }));
      EXPECT_TRUE(is_wrong({"the source is a window of another world"},
                           [&] { chain.put(own.on(0).at(0), foreign.at(1), block(1)); }));
    });
  });
}

TEST(World, WaitsAsLongAsClocksCanCount) {
  constexpr auto forever = std::chrono::milliseconds::max();
  World::run_threads(2,
                     [](World& world) {
                       Chain chain = world.chain("patient", {.time_limit = forever});
                       chain.signal(1 - world.rank()).expect(1 - world.rank()).commit();
                       chain.start();
                       chain.wait();
                     },
                     {.time_limit = forever});
}

}  // namespace
}  // namespace tca::test
