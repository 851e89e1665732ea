// Tests what only worlds over MPI have: the program's own communicators, windows of memory that the program
// has allocated, and messages with more elements than an int counts.
#include <sys/mman.h>
#include <time.h>

#include <chrono>
#include <span>
#include <thread>

#include "boot/join.hpp"
#include "coll_check.hpp"
#include "control/shm/shm_control.hpp"
#include "fabric/mpi/compile.hpp"
#include "fabric/mpi/datatype.hpp"
#include "messages.hpp"
#include "mpi_ranks.hpp"
#include "suite.hpp"

namespace {

thread_local int naps = 0;

thread_local bool hears_late = false;

thread_local int unseen = 0;

}  // namespace

// Replaces MPI's function. Counts the calls outside an InMpi guard: if one of them blocked, no other thread
// would see it.
extern "C" int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  unseen += tca::mpi::InMpi::count() % 2 == 0;
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}

// Replaces the system's function, to count naps.
extern "C" int nanosleep(const timespec* asked, timespec* left) {
  ++naps;
  return clock_nanosleep(CLOCK_REALTIME, 0, asked, left);
}

// Replaces MPI's function. A rank that `hears_late` sees at most one request complete per 30 ms.
extern "C" int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  constexpr std::chrono::milliseconds late{30};
  thread_local std::chrono::steady_clock::time_point last;
  const auto now = std::chrono::steady_clock::now();
  *done = 0;
  if (hears_late && now - last < late) return MPI_SUCCESS;
  last = now;
  return PMPI_Test(request, done, status);
}

namespace tca::test {
namespace {

std::string run_over(const std::string& fabric, int sub_cluster, int ranks, const Ranks::Body& body,
                     const WorldOptions& options = {.time_limit = std::chrono::seconds(25)}) {
  return mpi_backend(fabric, sub_cluster, {}).make()->run(ranks, body, options);
}

// MPI_Init gives no more than MPI_THREAD_FUNNELED.
TEST(Mpi, AProgressThreadNeedsItsLevel) {
  const std::string message = run_over("mpi", 0, 2, [](World&) {}, {.progress_thread = true});
  EXPECT_NE(message.find("needs MPI_THREAD_MULTIPLE, but MPI was initialised with MPI_THREAD_"),
            std::string::npos)
      << message;
}

TEST(Mpi, OneThreadAloneBelowItsLevel) {
  const auto body = [](World& world) {
    std::thread([&] {
      const Caught error = caught([&] { return world.window<int>(1); });
      require(
          error.code == Errc::incompatible && says(error.message, {"window 0 is called by another thread"}),
          "{}", error.message);
    }).join();
    static_cast<void>(world.window<int>(1));
  };
  EXPECT_EQ(run_over("mpi", 0, 2, body), "");
}

// None of the targets gets anything of a post that is too large for one of them. Nothing touches the memory.
TEST(Mpi, APostThatIsTooLarge) {
  constexpr std::size_t large = std::size_t{1} << 31;
  const auto body = [](World& world) {
    const Region region(world, world.rank() == 1 ? large : 8);
    const std::vector<RegionToken> tokens = world.all_gather(region.token());
    if (world.rank() == 0) {
      void* const memory =
          mmap(nullptr, large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      require(memory != MAP_FAILED, "no addresses");
      const std::span<const std::byte> source(static_cast<const std::byte*>(memory), large);
      Post post(world, "too much");
      post.notify(0, 3, 0).put(tokens[1], 0, source, block(large));
      const Caught error = caught([&] { post.start(); });
      require(error.code == Errc::invalid_argument &&
                  says(error.message, {"start of post 'too much'", "to rank 1 at once", "2 GiB"}),
              "{}", error.message);
      require(!Notices(world).test({0, 3, 0}), "a part of the post was sent");
      munmap(memory, large);
    }
    world.barrier();
  };
  EXPECT_EQ(run_over("mpi", 0, 2, body), "");
}

TEST(Mpi, ThatARankIsInsideIsSeen) {
  {
    const mpi::InMpi outer;
    const std::uint32_t count = mpi::InMpi::count();
    EXPECT_EQ(count % 2, 1u);
    { const mpi::InMpi inner; }
    EXPECT_EQ(mpi::InMpi::count(), count);
  }
  EXPECT_EQ(mpi::InMpi::count() % 2, 0u);
  const auto body = [](World& world) {
    unseen = 0;
    const Window<int> window = world.window<int>(1);
    window.on(1 - world.rank()).at(0).put(5);
    world.barrier();
    require(unseen == 0, "{} messages are sent unseen", unseen);
  };
  EXPECT_EQ(run_over("mpi", 0, 2, body), "");
}

// If every rank sent to rank 0 first, all messages would contend for rank 0's port.
TEST(Mpi, EveryRankBeginsWithTheNext) {
  const int size = 4, own = 2;
  std::vector<fabric::Put> out, in;
  for (int other = 0; other < size; ++other) {
    if (other == own) continue;
    out.push_back({.from = own, .to = other});
    in.push_back({.from = other, .to = own});
  }
  shm::ShmControl alone(boot::make_thread_rendezvous(1), 0, 1, std::chrono::seconds(5));
  const control::Members members(alone);
  const mpi::Operations operations =
      mpi::compile({.name = "order", .members = members, .guarded = false, .outgoing = out, .incoming = in},
                   0, MPI_COMM_WORLD);
  std::vector<int> order;
  for (const mpi::Operation& send : operations.sends) order.push_back(send.partner);
  EXPECT_EQ(order, (std::vector<int>{3, 0, 1}));
}

// Shared memory cannot reach memory that a process has allocated itself. MPI can, also when both fabrics
// serve the world.
TEST(Mpi, MemoryThatRanksHave) {
  for (const std::string fabric : {"mpi", "shm+mpi"}) {
    const auto body = [&](World& world) {
      const int me = world.rank(), next = (me + 1) % world.size(),
                last = (me + world.size() - 1) % world.size();
      std::vector<double> mine(me == 1 ? 0 : 100);
      const Window<double> there = world.window(mine.data(), static_cast<std::int64_t>(mine.size()));
      const Window<double> here = world.window<double>(10);
      Chain chain = world.chain("into own memory");
      if (next != 1) chain.put(there.on(next).at(50), here.at(0), block(10));
      if (me != 1) chain.expect(last);
      chain.commit();
      // Rank 2 would reach rank 3 through shared memory.
      const std::string text = chain.explain();
      const bool is_explained =
          text.find("shm does not reach memory that the program already had") != std::string::npos;
      require(is_explained == (fabric == "shm+mpi" && me == 2), "{}", text);
      for (int step = 1; step <= 3; ++step) {
        fill(here, 0, 10, me + step);
        chain.start();
        chain.wait();
        if (me != 1) require(mine[55] == last + step, "{} in step {}", mine[55], step);
      }
    };
    EXPECT_EQ(run_over(fabric, 2, 4, body), "");
  }
}

// Ranks of one host signal each other over shared memory, but puts into a window of memory that the program
// has allocated go over MPI. The signal must not overtake them.
TEST(Mpi, ASignalOverMemoryWaitsForImmediatePutsOverMpi) {
  const auto body = [](World& world) {
    const int me = world.rank();
    std::vector<int> mine(2);
    const Window<int> window = world.window(mine.data(), 2);
    const auto signal = [&](const char* name) {
      Chain chain = world.chain(name);
      if (me == 0) chain.signal(1).expect(1);
      if (me == 1) chain.signal(0).expect(0);
      chain.commit();
      return chain;
    };
    Chain waited = signal("waited for"), tested = signal("tested"), begun = signal("begun by others");
    for (int step = 1; step <= 100; ++step) {
      const int place = step % 2;
      if (me == 0) window.on(1).at(place).put(step);
      Chain& chain = step % 3 == 0 ? waited : step % 3 == 1 ? tested : begun;
      chain.start();
      if (&chain == &begun) world.barrier();  // the step progresses while the rank waits here
      while (&chain == &tested && !chain.test()) {
      }
      chain.wait();
      const int here = mine[static_cast<std::size_t>(place)];
      require(me == 0 || here == step, "{} in step {}", here, step);
    }
    world.barrier();
  };
  EXPECT_EQ(run_over("shm+mpi", 2, 2, body), "");
}

// A step waits for an immediate put that the target does not accept. Its error names the target, and the
// chain may then be destroyed.
TEST(Mpi, AStepBehindAnImmediatePutNamesItsRank) {
  constexpr int over = 7;  // a tag
  const auto body = [](World& world) {
    std::vector<int> mine(1);
    const Window<int> window = world.window(mine.data(), 1);
    {
      Chain chain = world.chain("behind", {.time_limit = std::chrono::milliseconds(300)});
      if (world.rank() == 0) chain.signal(1);
      if (world.rank() == 1) chain.expect(0);
      chain.commit();
      if (world.rank() == 0) {
        window.on(1).at(0).put(7);
        chain.start();
        const Caught error = caught([&] { chain.wait(); });
        require(error.code == Errc::timed_out && says(error.message, {"step 1 of chain 'behind' for rank 1"}),
                "{}", error.message);
        MPI_Send(nullptr, 0, MPI_BYTE, 1, over, MPI_COMM_WORLD);
      } else {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, over, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
    world.barrier();
  };
  EXPECT_EQ(run_over("shm+mpi", 2, 2, body), "");
}

// In a ring of four ranks cut in two, each rank has one neighbour on either side of the cut.
TEST(Mpi, OneChainTakesBothFabrics) {
  const auto body = [](World& world) {
    const int me = world.rank(), left = (me + 3) % 4, right = (me + 1) % 4;
    const Window<int> window = world.window<int>(4);
    Chain chain = world.chain("both");
    chain.put(window.on(right).at(0), window.at(2), block(1))
        .put(window.on(left).at(1), window.at(3), block(1));
    chain.expect(left).expect(right).commit();
    const std::string text = chain.explain();
    for (const char* fabric : {"shm/", "mpi/"})
      require(text.find(fabric) != std::string::npos, "{} is not in {}", fabric, text);
  };
  EXPECT_EQ(run_over("shm+mpi", 2, 4, body), "");
}

// Rank 0 has made the window and puts into it before rank 1 knows of rank 0's part of it.
TEST(Mpi, AnImmediatePutIntoANewWindow) {
  const auto body = [](World& world) {
    Chain signal = world.chain("signal");
    if (world.rank() == 0) signal.signal(1);
    if (world.rank() == 1) signal.expect(0);
    signal.commit();
    hears_late = world.rank() == 1;
    const Window<int> window = world.window<int>(1);
    hears_late = false;
    if (world.rank() == 0) window.on(1).at(0).put(7);
    signal.start();
    signal.wait();
    require(world.rank() == 0 || *window.data() == 7, "{} where 7 was put", *window.data());
  };
  EXPECT_EQ(run_over("mpi", 0, 2, body), "");
}

// A world can have as many chains as MPI has tags for, whatever its communicator: Open MPI does not report
// MPI_TAG_UB for communicators that MPI_Comm_split made.
TEST(Mpi, AWorldHasChainsForAllTags) {
  void* bound = nullptr;
  int given = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &given);
  ASSERT_TRUE(given);
  const int last = *static_cast<int*>(bound);
  const auto chains = static_cast<std::uint32_t>(last / 10);  // each takes less than ten
  EXPECT_GT(mpi::first_tag(chains, "last"), last / 10);
  EXPECT_THROW(mpi::first_tag(static_cast<std::uint32_t>(last), "too many"), Error);
}

// A rank that receives nothing in return may run 15 steps ahead: the wait of the 16th needs the confirmation
// of the 8th.
TEST(Mpi, ASenderRunsAheadOnlySoFar) {
  constexpr int most = 15;
  const auto body = [](World& world) {
    const Window<int> window = world.window<int>(1);
    Chain chain = world.chain("ahead");
    if (world.rank() == 0) chain.put(window.on(1).at(0), window.at(0), block(1));
    if (world.rank() == 1) chain.expect(0);
    chain.commit();
    int steps = 0;
    for (bool is_held = world.rank() != 0; !is_held; steps += !is_held) {
      *window.data() = steps;
      chain.start();
      const auto begin = std::chrono::steady_clock::now();
      while (!chain.test() && !is_held)
        is_held = std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(300);
    }
    world.barrier();
    for (int step = 0; world.rank() == 1 && step <= most; ++step) {
      chain.start();
      chain.wait();
      require(*window.data() == step, "{} in step {}", *window.data(), step);
    }
    chain.wait();
    require(world.rank() != 0 || steps == most, "{} steps ahead", steps);
  };
  EXPECT_EQ(run_over("mpi", 0, 2, body), "");
}

// A rank does not sleep while long messages are under way, not even while it waits for the others in a
// collective call.
TEST(Mpi, NobodySleepsWhileLongMessagesAreUnderWay) {
  const auto body = [](World& world) {
    constexpr std::int64_t count = 100'000;
    constexpr std::chrono::milliseconds late{200};
    const Window<int> window = world.window<int>(2 * count);
    Chain chain = world.chain("long");
    const int partner = 1 - world.rank();
    chain.put(window.on(partner).at(0), window.at(count), block(count)).expect(partner).commit();
    if (world.rank() == 0) {
      chain.start();
      naps = 0;
      world.barrier();
      require(naps == 0, "{} naps", naps);
    } else {
      std::this_thread::sleep_for(late);
      require(naps > 0, "naps are not counted");
      world.barrier();
      chain.start();
    }
    chain.wait();
  };
  EXPECT_EQ(run_over("mpi", 0, 2, body), "");
}

// The sub-clusters have either equal sizes, or 2, 2 and 1 ranks. The values are integers, whose sums do not
// depend on the order.
TEST(Mpi, CollectivesAcrossSubClusters) {
  struct Named {
    const char* algorithm;
    std::vector<CollectiveKind> kinds;
    bool any_sizes;
  };
  const std::vector<Named> all{
      {"hierarchical",
       {CollectiveKind::barrier, CollectiveKind::broadcast, CollectiveKind::all_gather,
        CollectiveKind::all_reduce},
       true},
      {"hierarchical_binomial", {CollectiveKind::broadcast}, true},
      {"multi_lane",
       {CollectiveKind::all_gather, CollectiveKind::all_reduce, CollectiveKind::reduce_scatter,
        CollectiveKind::all_to_all},
       false},
      {"two_level", {CollectiveKind::barrier, CollectiveKind::all_gather, CollectiveKind::all_reduce}, true},
      {"flat_to_leaders",
       {CollectiveKind::barrier, CollectiveKind::all_gather, CollectiveKind::all_reduce},
       true}};
  const auto body = [&](World& world) {
    for (const Named& named : all) {
      if (!named.any_sizes && world.size() % 2 != 0) continue;
      for (const CollectiveKind kind : named.kinds) {
        for (const bool in_place : {true, false}) {
          CollCase test{.kind = kind, .algorithm = named.algorithm, .count = 7, .root = world.size() - 2};
          test.in_place = in_place || kind == CollectiveKind::broadcast;
          check_collective(world, test);
        }
      }
    }
  };
  for (const int ranks : {4, 5}) EXPECT_EQ(run_over("shm+mpi", 2, ranks, body), "") << ranks;
}

// The datatype is built from types of up to 2^30 bytes each. Its total size shows whether bytes are lost.
TEST(Mpi, DescribesMoreThanTwoGibibytes) {
  for (const std::uint64_t bytes :
       {(std::uint64_t{1} << 31) - 1, std::uint64_t{1} << 31, (std::uint64_t{5} << 30) + 7}) {
    const mpi::Content content = mpi::dense(nullptr, static_cast<std::size_t>(bytes));
    MPI_Count size = 0;
    MPI_Type_size_x(content.type.get(), &size);
    EXPECT_EQ(static_cast<std::uint64_t>(size) * static_cast<std::uint64_t>(content.count), bytes);
  }
}

// Needs 4.3 GiB and some seconds, so it runs only with OPENTCA_TEST_LARGE=1.
TEST(Mpi, MovesMoreThanTwoGibibytes) {
  if (std::getenv("OPENTCA_TEST_LARGE") == nullptr) GTEST_SKIP() << "OPENTCA_TEST_LARGE is not set";
  constexpr std::int64_t count = (std::int64_t{1} << 31) + 4099;
  for (const std::string channel : {"mpi/datatype", "mpi/packed"}) {
    const auto body = [&](World& world) {
      const Window<std::uint8_t> window = world.window<std::uint8_t>(count);
      const std::span<std::uint8_t> bytes = window.elements();
      const auto value = [](std::size_t i) { return static_cast<std::uint8_t>(i * 31 + (i >> 20)); };
      if (world.rank() == 0)
        for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = value(i);
      Chain chain = world.chain("large", {.guarded = true, .time_limit = {}, .channel = channel});
      if (world.rank() == 0) chain.put(window.on(1).at(0), window.at(0), block(count));
      if (world.rank() == 1) chain.expect(0);
      chain.commit();
      chain.start();
      chain.wait();
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < bytes.size(); ++i) wrong += bytes[i] != value(i);
      require(wrong == 0, "{} bytes are wrong", wrong);
    };
    EXPECT_EQ(run_over("mpi", 0, 2, body, {.time_limit = std::chrono::seconds(120)}), "");
  }
}

}  // namespace
}  // namespace tca::test
