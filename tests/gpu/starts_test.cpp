// Tests the ways to start a chain, alone and mixed: by the host (through kernels or the resident engine), on
// a stream, in a CUDA graph, and from kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cuda_ok.hpp"
#include "fabric/cuda/call.hpp"
#include "fold_check.hpp"
#include "messages.hpp"
#include "ring.hpp"

namespace tca::test {
namespace {

struct Way {
  int ranks;
  bool guarded;
  const char* channel;
  int engine_blocks = 0;
};
class Starts : public testing::TestWithParam<Way> {
 protected:
  void run(const std::function<void(World&, Ring&)>& body) {
    const Way way = GetParam();
    const std::string failure =
        thread_ranks("cuda")->run(way.ranks,
                                  [&](World& world) {
                                    Ring ring(world, {.guarded = way.guarded, .channel = way.channel});
                                    body(world, ring);
                                    ring.finish();
                                    world.barrier();
                                  },
                                  {.engine_blocks = way.engine_blocks});
    EXPECT_EQ(failure, "");
  }
};

TEST(Errors, OfALinkBetweenGpusTellThatAPathIsLost) {
  const auto code_of = [](cudaError_t result) -> std::optional<Errc> {
    try {
      cuda::check(result, "copying");
    } catch (const Error& error) {
      return error.code();
    }
    return std::nullopt;
  };
  EXPECT_EQ(code_of(cudaErrorNvlinkUncorrectable), Errc::path_lost);
  EXPECT_EQ(code_of(cudaErrorMemoryAllocation), Errc::out_of_memory);
  EXPECT_EQ(code_of(cudaErrorLaunchFailure), Errc::device_failed);
}

TEST_P(Starts, ByTheHost) {
  run([](World&, Ring& ring) {
    for (long s = 1; s <= 100; ++s) ring.by_host(s);
  });
}
TEST_P(Starts, OnAStream) {
  run([](World&, Ring& ring) {
    for (long s = 1; s <= 1000; ++s) ring.by_stream(s, s % 3 == 0);
  });
}
TEST_P(Starts, InAKernel) {
  run([](World&, Ring& ring) { ring.by_kernel(1, 2000); });
}
TEST_P(Starts, InAGraphMixedWithTheOthers) {
  run([](World&, Ring& ring) {
    const Replay graph = ring.capture(6);
    for (int round = 0; round < 200; ++round) {
      graph.launch();
      if (round % 3 == 0) ring.by_stream(7'000'000 + round, round % 2 == 0);
      if (round % 7 == 0) ring.by_kernel(8'000'000 + round, 3);
      ring.keep_pace();
      if (round % 50 == 0) {
        ok(cudaStreamSynchronize(ring.stream));
        ring.by_host(9'000'000 + round);
      }
    }
    ok(cudaStreamSynchronize(ring.stream));
  });
}

// Unguarded puts run over packets only, which never land early. Unguarded stores into a ghost that is read
// between steps would be a mistake of the caller.
INSTANTIATE_TEST_SUITE_P(Cuda, Starts,
                         testing::Values(Way{2, true, "ll"}, Way{2, true, "direct"},
                                         Way{2, true, "copy_engine"}, Way{3, true, "ll"},
                                         Way{3, true, "direct"}, Way{2, false, "ll"}, Way{4, true, ""},
                                         Way{2, true, "ll", 1}, Way{2, true, "direct", 1},
                                         Way{2, true, "copy_engine", 2}, Way{2, false, "ll", 2},
                                         Way{3, true, "", 2}));

void expect_success(int ranks, int blocks, const std::function<void(World&)>& body) {
  EXPECT_EQ(thread_ranks("cuda")->run(ranks, body, {.engine_blocks = blocks}), "");
}

// A kernel combines what has arrived, behind the wait on the stream or in the kernel.
TEST(Stream, Folds) {
  const HaloCase test{.shape = {2, 2, 1},
                      .periodic = {true, false, true},
                      .extents = {9, 8, 7},
                      .width = {{1, 2}, {2, 1}, {1, 1}},
                      .corners = true,
                      .steps = 5};
  const std::string failure = thread_ranks("cuda")->run(4, [&](World& world) {
    cudaStream_t stream;
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    const auto on_stream = [&](Fold& fold) {
      fold.run(stream);
      ok(cudaStreamSynchronize(stream));
    };
    check_fold<double>(world, test, ReduceOp::sum, 1, on_stream);
    check_fold<std::int32_t>(world, test, ReduceOp::min, 2, on_stream);
    check_fold<float>(world, test, ReduceOp::product, 3, on_stream);
    check_fold<std::int64_t>(world, test, ReduceOp::max, 4, on_stream);
    const auto in_kernel = [&]<class T>(Fold& fold, T) {
      ok(fold_step<T>(fold.device(), fold.cells(0), fold.cells(1), stream));
      ok(cudaStreamSynchronize(stream));
    };
    check_fold<double>(world, test, ReduceOp::sum, 5, [&](Fold& fold) { in_kernel(fold, double{}); });
    check_fold<std::int64_t>(world, test, ReduceOp::sum, 6,
                             [&](Fold& fold) { in_kernel(fold, std::int64_t{}); });
    ok(cudaStreamDestroy(stream));
    const Caught error = caught([&] {
      const Halo halo(world, "halo", Grid(4, {4}), {4});
      Fold(world, "bytes", halo).add(world.window<std::int8_t>(halo.elements()));
    });
    require(error.code == Errc::invalid_argument && says(error.message, {"GPUs combine float, double"}), "{}",
            error.message);
  });
  EXPECT_EQ(failure, "");
}

// The put has more segments than the blocks that store them, and one block waits for all of them.
TEST(Stream, LargePutsStartedApartFromTheirWait) {
  const std::string failure = thread_ranks("cuda")->run(2, [](World& world) {
    constexpr std::int64_t bytes = 1 << 20;
    const int rank = world.rank(), other = 1 - rank;
    Window<unsigned char> u = world.window<unsigned char>(2 * bytes);
    Chain chain = world.chain("large", {.channel = "direct"});
    chain.put(u.on(other).at(bytes), u.at(0), block(bytes)).expect(other);
    cudaStream_t stream;
    ok(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    unsigned char* found = nullptr;
    ok(cudaMallocHost(&found, bytes));
    chain.commit();
    world.barrier();
    for (int step = 1; step <= 60; ++step) {
      const auto value = [&](int of) { return static_cast<unsigned char>(2 * step + of); };
      ok(cudaMemsetAsync(u.data(), value(rank), bytes, stream));
      ok(cudaStreamSynchronize(stream));
      if (step % 3 == 0) {
        chain.run(stream);
      } else {
        chain.start(stream);
        chain.wait(stream);
      }
      ok(cudaStreamSynchronize(stream));  // on a shared GPU, nothing may queue behind a wait
      ok(cudaMemcpyAsync(found, u.data() + bytes, bytes, cudaMemcpyDeviceToHost, stream));
      ok(cudaStreamSynchronize(stream));
      const auto wrong =
          std::count_if(found, found + bytes, [&](unsigned char b) { return b != value(other); });
      require(wrong == 0, "step {}: {} of {} bytes are not the other rank's", step, wrong, bytes);
    }
    world.barrier();
    ok(cudaStreamDestroy(stream));
    ok(cudaFreeHost(found));
  });
  EXPECT_EQ(failure, "");
}

// Sends one row as long as a part of a put may be, which is more than the largest pitch of a pitched copy.
TEST(Stream, CopiesPartsOfTwoGibibytes) {
  const std::string failure = thread_ranks("cuda")->run(2, [](World& world) {
    constexpr std::int64_t bytes = std::int64_t{1} << 31;
    const int rank = world.rank(), other = 1 - rank;
    Window<unsigned char> u = world.window<unsigned char>(2 * bytes);
    Chain chain = world.chain("two", {.channel = "copy_engine"});
    chain.put(u.on(other).at(bytes), u.at(0), block(bytes)).expect(other);
    chain.commit();
    ok(cudaMemset(u.data(), 1 + rank, bytes));
    ok(cudaDeviceSynchronize());
    world.barrier();
    chain.start();
    chain.wait();
    for (const std::int64_t at : {std::int64_t{0}, bytes / 2, bytes - 1}) {
      unsigned char found = 0;
      ok(cudaMemcpy(&found, u.data() + bytes + at, 1, cudaMemcpyDeviceToHost));
      require(found == 1 + other, "byte {} is {}", at, found);
    }
    world.barrier();
  });
  EXPECT_EQ(failure, "");
}

// Rank 2 has no partner, so it would have room for more chains.
TEST(Stream, ChainsForWhichARankHasNoPinnedMemoryAreRefusedByAll) {
  const std::string failure = thread_ranks("cuda")->run(3, [](World& world) {
    Window<int> u = world.window<int>(2);
    const auto commit = [&] {
      Chain chain = world.chain("one of many");
      if (world.rank() < 2)
        chain.put(u.on(1 - world.rank()).at(0), u.at(1), block(1)).expect(1 - world.rank());
      chain.commit();
      return chain;
    };
    std::list<Chain> chains;
    try {
      while (chains.size() < 20'000) chains.push_back(commit());
      require(false, "there was room for all");
    } catch (const Error& error) {
      require(error.code() == Errc::out_of_memory, "{}", error.what());
      require(
          std::string_view(error.what()).starts_with("rank 0 has no room left in its 4 MiB of pinned memory"),
          "{}", error.what());
    }
    chains.clear();
    Chain chain = commit();
    chain.start();
    chain.wait();
    world.barrier();
  });
  EXPECT_EQ(failure, "");
}

// Returns whether every put goes by packets. The first channel of each line of an explanation is the chosen
// one.
bool goes_by_packets(const Chain& chain) {
  std::istringstream lines(chain.explain());
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("cuda/");
    if (at != std::string::npos && line.compare(at, 7, "cuda/ll") != 0) return false;
  }
  return true;
}

// Large faces go by packets only as long as room for later chains remains.
TEST(Stream, ChainsOfLargeFacesAllFindRoom) {
  expect_success(2, 0, [](World& world) {
    constexpr std::int64_t face = (2 << 20) / sizeof(long);
    const int other = 1 - world.rank();
    const auto u = world.window<long>(4 * face);
    std::list<Chain> chains;
    const auto commit = [&](const char* name, std::int64_t count) -> Chain& {
      Chain& chain = chains.emplace_back(world.chain(name));
      for (const int side : {0, 1})
        chain.put(u.on(other).at(side * face), u.at((2 + side) * face), block(count));
      chain.expect(other).commit();
      return chain;
    };
    require(goes_by_packets(commit("large", face)), "the faces of the first chain do not go by packets");
    for (int i = 0; i < 30; ++i) commit("large", face);
    require(goes_by_packets(commit("small", 1)), "small puts do not go by packets any more");
    for (Chain& chain : chains) {
      chain.start();
      chain.wait();
    }
    world.barrier();
  });
}

// While the host waits for one chain, the other one runs by attempts. A step that follows at once must not
// take the end of the previous step's attempt for its own.
TEST(Stream, StepsFollowEachOtherAtOnceBesideAnotherChain) {
  expect_success(2, 0, [](World& world) {
    const int other = 1 - world.rank();
    const auto u = world.window<long>(4);
    const auto chain = [&](const char* name, std::int64_t at) {
      Chain one = world.chain(name);
      one.put(u.on(other).at(at + 1), u.at(at), block(1)).expect(other).commit();
      return one;
    };
    Chain waiting = chain("waiting", 0), attempting = chain("attempting", 2);
    const auto run = [](Chain& one) {
      one.start();
      one.wait();
    };
    constexpr int steps = 3000, at_once = 4;
    for (int step = 0; step < steps; ++step) {
      waiting.start();
      for (int i = 0; i < at_once; ++i) run(attempting);
      waiting.wait();
    }
    const long mine = 10 + world.rank();
    u.write(2, {&mine, 1});
    waiting.start();
    run(attempting);
    waiting.wait();
    long come = 0;
    u.read(3, {&come, 1});
    require(come == 10 + other, "rank {}: {} has come", world.rank(), come);
    world.barrier();
  });
}

TEST(Stream, IsWhereItsStepsAreWaitedFor) {
  World::run_threads(1,
                     [](World& world) {
                       Chain chain = world.chain("ordered");
                       chain.signal(0).expect(0).commit();
                       cudaStream_t stream;
                       ok(cudaStreamCreate(&stream));
                       chain.start(stream);
                       for (const auto& call :
                            {+[](Chain& c) { c.wait(); }, +[](Chain& c) { static_cast<void>(c.test()); }}) {
                         try {
                           call(chain);
                           ADD_FAILURE() << "returned";
                         } catch (const Error& error) {
                           EXPECT_EQ(error.code(), Errc::invalid_argument);
                           EXPECT_NE(std::string(error.what()).find("ordered on a stream"),
                                     std::string::npos);
                         }
                       }
                       chain.wait(stream);
                       ok(cudaStreamSynchronize(stream));
                       chain.start();
                       chain.wait();
                       ok(cudaStreamDestroy(stream));
                     },
                     {.fabric = "cuda"});
}

// Runs a step of all rings. All are started, one after the other, before any is waited for.
void by_host_together(const std::vector<Ring*>& rings, long s) {
  for (Ring* ring : rings) write_faces(ring->here, s, ring->stream);
  for (Ring* ring : rings) ok(cudaStreamSynchronize(ring->stream));
  for (Ring* ring : rings) ring->chain.start();
  for (Ring* ring : rings) {
    ring->chain.wait();
    check_ghosts(ring->here, s, ring->stream);
  }
  for (Ring* ring : rings) ok(cudaStreamSynchronize(ring->stream));
}

TEST(Engine, LeavesAndComesBack) {
  expect_success(2, 2, [](World& world) {
    Ring ring(world, {});
    for (long s = 1; s <= 40; ++s) {
      ring.by_host(s);
      // Shorter than the engine takes to leave, about as long, and longer.
      if (s % 2 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500 * (s % 9)));
      world.barrier();
      // These calls wait for the GPU to become idle, which it would not with the engine on it.
      void* memory = nullptr;
      ok(cudaMalloc(&memory, 1 << 20));
      ok(cudaFree(memory));
      world.barrier();
    }
    ring.finish();
  });
}

// Runs a large chain beside small ones, which the engine runs.
TEST(Engine, LeavesLargeChainsToLaunches) {
  expect_success(2, 1, [](World& world) {
    constexpr std::size_t elements = 1 << 17;
    const int rank = world.rank(), other = 1 - rank;
    Window<long> u = world.window<long>(2 * elements);
    Chain large = world.chain("large", {.channel = "direct"});
    large.put(u.on(other).at(elements), u.at(0), block(elements)).expect(other).commit();
    Ring ring(world, {});
    std::vector<long> mine(elements), theirs(elements);
    for (long s = 1; s <= 30; ++s) {
      std::fill(mine.begin(), mine.end(), 2 * s + rank);
      ok(cudaMemcpyAsync(u.data(), mine.data(), elements * sizeof(long), cudaMemcpyHostToDevice,
                         ring.stream));
      ok(cudaStreamSynchronize(ring.stream));  // cudaMemcpy alone may return before all bytes are there
      large.start();
      ring.by_host(s);
      large.wait();
      ok(cudaMemcpy(theirs.data(), u.data() + elements, elements * sizeof(long), cudaMemcpyDeviceToHost));
      const auto wrong =
          std::count_if(theirs.begin(), theirs.end(), [&](long found) { return found != 2 * s + other; });
      require(wrong == 0, "step {}: {} elements are not the other rank's", s, wrong);
    }
    ring.finish();
    world.barrier();
  });
}

// More chains are under way than the engine takes, and each rank starts them in another order.
TEST(Engine, TakesChainsInAnyOrder) {
  expect_success(2, 1, [](World& world) {
    std::list<Ring> rings;
    for (int i = 0; i < 7; ++i)
      rings.emplace_back(world, ChainOptions{.channel = i % 2 == 0 ? "ll" : "direct"});
    std::vector<Ring*> order;
    for (Ring& ring : rings) order.push_back(&ring);
    if (world.rank() == 1) std::reverse(order.begin(), order.end());
    for (long s = 1; s <= 200; ++s) {
      by_host_together(order, s);
    }
    for (Ring& ring : rings) ring.finish();
    world.barrier();
  });
}

// Each chain reuses the places of the one before.
TEST(Engine, RunsChainsThatFollowDestroyedOnes) {
  expect_success(2, 1, [](World& world) {
    for (int round = 0; round < 12; ++round) {
      // Unguarded packets never land early. Unguarded stores might land in ghosts that are still being read.
      Ring ring(world, {.guarded = round % 6 != 0, .channel = round % 2 == 0 ? "ll" : "direct"});
      for (long s = 1; s <= 20; ++s) ring.by_host(1000 * round + s);
      ring.finish();
      world.barrier();
    }
  });
}

// What comes for host memory the host itself reads, once it has heard of it.
TEST(Engine, LandsInHostMemory) {
  expect_success(2, 2, [](World& world) {
    constexpr int count = 512, steps = 2000;
    const int other = 1 - world.rank();
    for (const char* const channel : {"ll", "direct"}) {
      const auto from = world.host_window<int>(count), to = world.host_window<int>(count);
      Chain chain = world.chain("results", {.channel = channel});
      chain.put(to.on(other).at(0), from.at(0), block(count)).expect(other).commit();
      for (int step = 1; step <= steps; ++step) {
        std::fill_n(from.data(), count, step);
        chain.run();
        for (int i = 0; i < count; ++i)
          require(to[i] == step, "{}: element {} is {} in step {}", channel, i, to[i], step);
      }
    }
  });
}

// The engine's blocks pass commands on through a ring that holds 256.
TEST(Engine, RunsThousandsOfStepsWithoutAPause) {
  expect_success(2, 3, [](World& world) {
    Ring ring(world, {});
    ring.by_ringing_kernel(1, 3000);
    ok(cudaStreamSynchronize(ring.stream));
    ring.finish();
    world.barrier();
  });
}

TEST(Engine, IsRungForChainsThatFollowDestroyedOnes) {
  expect_success(2, 1, [](World& world) {
    for (long round = 1; round <= 12; ++round) {
      Ring ring(world, {.channel = round % 2 == 0 ? "ll" : "direct"});
      ring.by_ringing_kernel(1000 * round, 20);
      ok(cudaStreamSynchronize(ring.stream));
      ring.finish();
      world.barrier();
    }
  });
}

// Kernels ring for a chain that is also started in every other way. Pauses let the engine leave in between.
TEST(Engine, IsRungByKernels) {
  for (const int blocks : {1, 3}) {
    expect_success(2, blocks, [](World& world) {
      Ring ring(world, {});
      const Replay graph = ring.capture(2);
      for (long round = 0; round < 60; ++round) {
        const long s = 1000 * (round + 1);
        ring.by_ringing_kernel(s, 20);
        ring.keep_pace();
        if (round % 5 == 1) ring.by_stream(s + 100, round % 2 == 0);
        if (round % 5 == 2) graph.launch();
        if (round % 5 == 3) ring.by_kernel(s + 200, 3);
        ring.keep_pace();
        if (round % 3 == 0) {
          ok(cudaStreamSynchronize(ring.stream));
          for (long k = 300; k < 303; ++k) ring.by_host(s + k);
        }
        if (round % 7 == 0) {
          ok(cudaStreamSynchronize(ring.stream));
          std::this_thread::sleep_for(std::chrono::microseconds(600 * (round % 9)));
        }
      }
      ok(cudaStreamSynchronize(ring.stream));
      ring.finish();
    });
  }
}

// Kernels ring for two chains at once, as many as the engine takes from kernels. Beside them the host starts
// three, one more than the engine takes from the host.
TEST(Engine, IsRungForSeveralChainsAtOnce) {
  expect_success(2, 1, [](World& world) {
    std::list<Ring> rings;
    for (int i = 0; i < 5; ++i)
      rings.emplace_back(world, ChainOptions{.channel = i % 2 == 0 ? "ll" : "direct"});
    std::vector<Ring*> by_kernels, by_host;
    for (Ring& ring : rings) (by_kernels.size() < 2 ? by_kernels : by_host).push_back(&ring);
    for (long s = 1; s <= 50; ++s) {
      for (Ring* ring : by_kernels) ring->by_ringing_kernel(100 * s, 10);
      by_host_together(by_host, s);
      for (Ring* ring : by_kernels) ring->keep_pace();
    }
    for (Ring& ring : rings) ring.finish();
    world.barrier();
  });
}

TEST(Engine, TellsAKernelThatRangWhoIsMissing) {
  const auto body = [](World& world) {
    Ring ring(world, {.time_limit = std::chrono::milliseconds(300)});
    ring.by_ringing_kernel(1, 3);
    ok(cudaStreamSynchronize(ring.stream));
    world.barrier();
    if (world.rank() == 0) {
      ring.by_ringing_kernel(4, 1);
      ok(cudaStreamSynchronize(ring.stream));
    }
    world.check();
    world.barrier();
    world.check();
  };
  const std::string failure = thread_ranks("cuda")->run(2, body, {.engine_blocks = 1});
  EXPECT_NE(failure.find("rank 1"), std::string::npos) << failure;
  EXPECT_NE(failure.find("step 4 of chain 'ring'"), std::string::npos) << failure;
}

// The error comes long before the time limit.
TEST(Engine, TellsAKernelThatRangThatItsPartnerIsGone) {
  int gpus = 0;
  ok(cudaGetDeviceCount(&gpus));
  if (gpus < 2)
    GTEST_SKIP() << "a rank that shares its GPU ends only once that has come to rest: it frees memory";
  const auto begin = std::chrono::steady_clock::now();
  std::string told;
  const auto body = [&](World& world) {
    Ring ring(world, {});
    ring.by_ringing_kernel(1, 3);
    ok(cudaStreamSynchronize(ring.stream));
    require(world.rank() == 0, "this rank ends here");
    ring.by_ringing_kernel(4, 1);
    ok(cudaStreamSynchronize(ring.stream));
    told = caught([&] { world.check(); }).message;
  };
  const std::string failure = thread_ranks("cuda")->run(2, body, {.engine_blocks = 1});
  EXPECT_NE(failure.find("this rank ends here"), std::string::npos) << failure;
  EXPECT_TRUE(says(told, {"rank 1"}));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

TEST(Engine, IsNeededByAChainsBell) {
  expect_success(2, 0, [](World& world) {
    Ring ring(world, {});
    try {
      static_cast<void>(ring.chain.doorbell());
      require(false, "it was not refused");
    } catch (const Error& error) {
      require(std::string_view(error.what()).find("engine_blocks") != std::string_view::npos, "{}",
              error.what());
    }
    world.barrier();
  });
}

TEST(Engine, SaysWhoIsMissing) {
  const auto body = [](World& world) {
    Ring ring(world, {.time_limit = std::chrono::milliseconds(300)});
    for (long s = 1; s <= 3; ++s) ring.by_host(s);
    if (world.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
    ring.by_host(4);
  };
  const std::string failure = thread_ranks("cuda")->run(2, body, {.engine_blocks = 1});
  EXPECT_NE(failure.find("rank 1"), std::string::npos) << failure;
  EXPECT_NE(failure.find("step 4 of chain 'ring'"), std::string::npos) << failure;
}

// The engine has a shorter code path for such a chain.
TEST(Engine, SaysWhoIsMissingForAPacketALane) {
  const auto body = [](World& world) {
    constexpr int words = 32;
    Window<double> u = world.window<double>(2 * words);
    const int other = 1 - world.rank();
    Chain chain = world.chain("pair", {.time_limit = std::chrono::milliseconds(300)});
    chain.put(u.on(other).at(0), u.at(words), block(words)).expect(other).commit();
    for (int s = 1; s <= 4; ++s) {
      if (s == 4 && world.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(1));
      chain.start();
      chain.wait();
    }
  };
  const std::string failure = thread_ranks("cuda")->run(2, body, {.engine_blocks = 1});
  EXPECT_NE(failure.find("rank 1"), std::string::npos) << failure;
  EXPECT_NE(failure.find("step 4 of chain 'pair'"), std::string::npos) << failure;
}

// Freeing memory waits for the GPU to become idle. A step that no partner answers must not prevent that.
TEST(Engine, EndsWithAStepUnderWay) {
  expect_success(2, 1, [](World& world) {
    Ring ring(world, {.time_limit = std::chrono::milliseconds(300)});
    if (world.rank() == 0) ring.chain.start();
    world.barrier();
  });
}

// One warp of the engine has received what it waits for, the other one has not.
TEST(Engine, EndsWithAStepHalfDone) {
  expect_success(3, 1, [](World& world) {
    Window<long> u = world.window<long>(4);
    Chain chain = world.chain("pairs", {.time_limit = std::chrono::milliseconds(300)});
    for (int other = 0; other < world.size(); ++other)
      if (other != world.rank())
        chain.put(u.on(other).at(static_cast<std::size_t>(world.rank())), u.at(3), block(1)).expect(other);
    chain.commit();
    if (world.rank() != 1) chain.start();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    world.barrier();
  });
}

}  // namespace
}  // namespace tca::test
