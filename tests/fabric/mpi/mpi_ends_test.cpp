// Tests chains that are destroyed in the middle of a step. The memory with which MPI still works must stay,
// no rank may wait for a message that will never come, and what does complete must be freed.
#include <malloc.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "mpi_ranks.hpp"
#include "suite.hpp"
#include "tca/mpi.hpp"

namespace tca::test {
namespace {

// The size of a put in bytes. MPI does not move so much in one call, and the allocator returns a block of
// this size to the system as soon as it is freed.
constexpr std::int64_t large = std::int64_t{24} << 20;

// Returns the bytes allocated from the heap. Under the sanitizers it returns 0.
std::size_t bytes_of_heap() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// The fabric and the channel of a chain, and the ranks that start the step for which nobody waits.
struct Case {
  std::string fabric, channel;
  std::vector<int> beginners;

  bool begins(int rank) const {
    return std::find(beginners.begin(), beginners.end(), rank) != beginners.end();
  }
};

class Ends : public testing::TestWithParam<Case> {
 protected:
  void run(int ranks, const Ranks::Body& body) {
    const auto limit = std::chrono::seconds(5);
    EXPECT_EQ(mpi_backend(GetParam().fabric, 1, {}).make()->run(ranks, body, {.time_limit = limit}), "");
  }

  // Returns a chain between ranks 0 and 1 with a step under way. Each rank that has started the step has
  // tested it once, so MPI has had the occasion to move some of it.
  static Chain begun(World& world, const Window<std::byte>& window) {
    Chain chain = world.chain("given up", {.channel = GetParam().channel});
    const bool takes_part = world.rank() < 2, begins = GetParam().begins(world.rank());
    const int partner = 1 - world.rank();
    if (takes_part) chain.put(window.on(partner).at(0), window.at(large), block(large)).expect(partner);
    chain.commit();
    chain.start();
    chain.wait();
    world.barrier();
    if (begins) chain.start();
    world.barrier();
    if (begins) static_cast<void>(chain.test());
    return chain;
  }
};

TEST_P(Ends, AChainAndItsWindow) {
  run(2, [](World& world) {
    const std::size_t before = bytes_of_heap();
    {
      const Window<std::byte> window = world.window<std::byte>(2 * large);
      begun(world, window);
    }
    const auto is_back = [&](bool mine) {
      const std::vector<char> all = world.all_gather(static_cast<char>(mine));
      return std::count(all.begin(), all.end(), 1) == world.size();
    };
    // When only one rank has started the step, its memory stays with MPI.
    const bool comes_back = GetParam().beginners.size() == 2 && GetParam().channel != "mpi/rma";
    for (int i = 0; i < 3 || (comes_back && !is_back(bytes_of_heap() < before + large / 2)); ++i) {
      require(i < 2000, "{} bytes became {}", before, bytes_of_heap());
      static_cast<void>(world.window<int>(1));
    }
  });
}

TEST_P(Ends, AWorld) {
  run(2, [](World& world) {
    const Window<std::byte> window = world.window<std::byte>(2 * large);
    begun(world, window);
  });
}

// The third rank has no part in the chain. It drops the window first and keeps the chain.
TEST_P(Ends, AWindowBeforeItsChain) {
  run(3, [](World& world) {
    std::optional<Window<std::byte>> window = world.window<std::byte>(2 * large);
    std::optional<Chain> chain = begun(world, *window);
    window.reset();
    if (world.rank() < 2) chain.reset();
    for (int i = 0; i < 3; ++i) static_cast<void>(world.window<int>(1));
  });
}

// Rank 0 never asks for the completion of its last step. The step progresses while rank 0 waits in the
// barrier, and rank 1 receives all of it.
TEST_P(Ends, AWorldWhoseSenderDoesNotWait) {
  run(2, [](World& world) {
    const Window<std::byte> window = world.window<std::byte>(2 * large);
    Chain chain = world.chain("one way", {.channel = GetParam().channel});
    if (world.rank() == 0) chain.put(window.on(1).at(0), window.at(large), block(4096));
    if (world.rank() == 1) chain.expect(0);
    chain.commit();
    chain.start();
    if (world.rank() == 1) chain.wait();
    world.barrier();
  });
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* fabric : {"mpi", "shm+mpi"})
    for (const char* channel : {"mpi/datatype", "mpi/packed", "mpi/rma"})
      for (const std::vector<int>& beginners : {std::vector{0, 1}, {0}, {1}})
        all.push_back({fabric, channel, beginners});
  return all;
}

// Runs ranks that leave when they like, without a barrier before.
std::string run_apart(const std::string& fabric, const Ranks::Body& body) {
  const auto in_world = [&](const void* comm, const Ranks::Body& of_rank, const WorldOptions& given) {
    WorldOptions options = given;
    options.fabric = fabric;
    setenv("OPENTCA_SUBCLUSTER", "1", 1);
    World world = World::from_mpi(*static_cast<const MPI_Comm*>(comm), options);
    of_rank(world);
  };
  return mpi_backend("apart", in_world, {}).make()->run(2, body, {.time_limit = std::chrono::seconds(10)});
}

class PostEnds : public testing::TestWithParam<std::string> {};

// The source leaves as soon as it may, and the target only then looks for what was posted.
TEST_P(PostEnds, APostArrivesWhoseRankLeaves) {
  EXPECT_EQ(run_apart(GetParam(),
                      [](World& world) {
                        const Region region(world, large);
                        const std::vector<RegionToken> tokens = world.all_gather(region.token());
                        if (world.rank() == 0) {
                          const std::vector<char> source(large, 7);
                          Post post(world, "last words");
                          post.put(tokens[1], 0, source, block(large)).notify(1, 0, 0).start();
                        } else {
                          Notices(world).wait({0, 0, 0});
                          require(std::all_of(region.data(), region.data() + large,
                                              [](std::byte byte) { return byte == std::byte{7}; }),
                                  "not all has come");
                        }
                      }),
            "");
}

TEST_P(PostEnds, ANoticeIsAwaitedOfARankThatLeaves) {
  EXPECT_EQ(run_apart(GetParam(),
                      [](World& world) {
                        world.barrier();
                        if (world.rank() == 1) return;
                        try {
                          Notices(world).wait({1, 4, 12});
                          throw Mismatch("the wait returned");
                        } catch (const Error& error) {
                          require(error.code() == Errc::rank_lost && error.missing() == std::vector<int>{1},
                                  "{}", error.what());
                        }
                      }),
            "");
}

INSTANTIATE_TEST_SUITE_P(Fabric, PostEnds, testing::Values("mpi", "shm+mpi"));

INSTANTIATE_TEST_SUITE_P(Mpi, Ends, testing::ValuesIn(cases()), [](const auto& test) {
  std::string name = fmt::format("{}_{}_begun_by_{}", test.param.fabric, test.param.channel,
                                 fmt::join(test.param.beginners, "_"));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '+' || c == '/'; }, '_');
  return name;
});

}  // namespace
}  // namespace tca::test

int main(int argc, char** argv) { return tca::test::run_tests_over_mpi(argc, argv); }
