// Runs the suite over MPI for memory that MPI cannot reach, with a test double as the stager, and tests steps
// ordered on streams.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/poll.hpp"
#include "control/mpi/call.hpp"
#include "core/world/world_state.hpp"
#include "doubles/staging_double.hpp"
#include "fabric/mpi/mpi_fabric.hpp"
#include "mpi/mpi_ranks.hpp"
#include "suite.hpp"

namespace tca::test {
namespace {

using BodyOnDouble = std::function<void(World&, StagingDouble&)>;

void run_on_double(const void* comm, const BodyOnDouble& body, const WorldOptions& options,
                   bool loses_bytes = false) {
  int rank = 0;
  MPI_Comm_rank(*static_cast<const MPI_Comm*>(comm), &rank);
  StagingDouble stager(static_cast<unsigned>(rank) + 1);
  stager.loses_bytes = loses_bytes;
  const mpi::Settings settings{.time_limit = std::chrono::seconds(25), .staged = true, .stager = &stager};
  boot::Connections connections;
  connections.control = mpi::join(comm, sizeof(MPI_Comm), mpi::header_name(), settings);
  connections.fabrics.push_back(mpi::make_fabric(*connections.control, settings));
  connections.launcher = "MPI";
  World world =
      core::WorldState::make_world(std::make_shared<core::WorldState>(std::move(connections), options));
  try {
    body(world, stager);
  } catch (...) {
    stager.own.close();
    stager.users.close();
    throw;
  }
}

Backend staged_backend() {
  const auto in_world = [](const void* comm, const Ranks::Body& body, const WorldOptions& options) {
    run_on_double(
        comm, [&](World& world, StagingDouble&) { body(world); }, options);
  };
  return mpi_backend("staged", in_world, {""});
}

INSTANTIATE_TEST_SUITE_P(Fabric, FabricTest, testing::Values(staged_backend()), backend_name);

std::string run_staged(int ranks, const BodyOnDouble& body, bool loses_bytes = false, bool traced = false) {
  const auto in_world = [&](const void* comm, const Ranks::Body&, const WorldOptions& options) {
    run_on_double(comm, body, options, loses_bytes);
  };
  const WorldOptions options{.time_limit = std::chrono::seconds(25), .trace = traced};
  return mpi_backend("staged", in_world, {}).make()->run(ranks, {}, options);
}

// Steps run from the host and on a stream in turn, several on the stream at once. Half of the ranks only
// receive.
TEST(Staged, OnStreams) {
  const auto body = [](World& world, StagingDouble& stager) {
    const int me = world.rank(), partner = me ^ 1;
    constexpr int elements = 300, ahead = 5;
    const Window<int> sent = world.window<int>(elements), received = world.window<int>(2 * elements);
    Chain chain = world.chain("on streams");
    if (me % 2 == 0) {
      chain.put(received.on(partner).at(0), stride(elements, 2), sent.at(0), block(elements)).signal(partner);
    } else {
      chain.expect(partner);
    }
    chain.commit();
    int wrong = 0;
    for (int step = 1; step <= 40; ++step) {
      const auto write = [&, step] {
        for (std::size_t i = 0; i < elements; ++i) sent[i] = 1000 * step + static_cast<int>(i);
      };
      const auto check = [&, step] {
        for (std::size_t i = 0; i < elements && me % 2 == 1; ++i)
          wrong += received[2 * i] != 1000 * step + static_cast<int>(i);
      };
      if (step % 8 == 0) {
        stager.users.synchronize();
        write();
        chain.start();
        chain.wait();
        check();
      } else {
        stager.users.enqueue(write);
        if (step % 2 == 0) {
          chain.run(nullptr);
        } else {
          chain.start(nullptr);
          chain.wait(nullptr);
        }
        stager.users.enqueue(check);
      }
      if (step % ahead == 0) stager.users.synchronize();
    }
    stager.users.synchronize();
    world.check();
    require(wrong == 0, "rank {}: {} elements are wrong", me, wrong);
  };
  EXPECT_EQ(run_staged(4, body), "");
}

// A rank's trace shows each message as one span per step, however many chunks carry it.
TEST(Staged, CarriedMessagesAreTraced) {
  const auto body = [](World& world, StagingDouble& stager) {
    constexpr int elements = 1000, steps = 6;
    const Window<int> window = world.window<int>(2 * elements);
    Chain chain = world.chain("traced");
    const int partner = 1 - world.rank();
    chain.put(window.on(partner).at(0), window.at(elements), block(elements)).expect(partner).commit();
    for (int step = 1; step < steps; ++step) chain.run(nullptr);
    stager.users.synchronize();
    chain.start();
    chain.wait();
    const std::string path = testing::TempDir() + fmt::format("carried_{}.json", getpid());
    world.write_trace(path);
    if (world.rank() != 0) return;
    const nlohmann::json trace = nlohmann::json::parse(std::ifstream(path));
    std::filesystem::remove(path);
    std::map<std::pair<int, std::string>, std::set<std::string>> details;
    std::size_t spans = 0;
    for (const nlohmann::json& event : trace.at("traceEvents")) {
      if (event.at("ph") != "X" || !event.at("name").get<std::string>().starts_with("puts")) continue;
      require(event.at("dur").get<double>() >= 0, "{}", event.dump());
      details[{event.at("pid"), event.at("name")}].insert(event.at("args").at("detail"));
      ++spans;
    }
    require(spans == 4 * steps, "{} spans", spans);
    for (const int rank : {0, 1})
      for (const char* way : {"to", "from"})
        require(details[{rank, fmt::format("puts {} rank {}", way, 1 - rank)}].size() == steps,
                "rank {}: steps are missing in what it puts {}", rank, way);
  };
  EXPECT_EQ(run_staged(2, body, false, true), "");
}

// A step that a stream has begun is sent completely, even when the sender leaves the world.
TEST(Staged, AWorldEndsWithNothingOwed) {
  const auto body = [](World& world, StagingDouble& stager) {
    const Window<int> window = world.window<int>(1000);
    Chain chain = world.chain("last words");
    if (world.rank() == 0) chain.put(window.on(1).at(0), window.at(0), block(1000));
    if (world.rank() == 1) chain.expect(0);
    chain.commit();
    if (world.rank() == 0) {
      fill(window, 0, 1000, 7);
      chain.run(nullptr);
      stager.users.synchronize();
    } else {
      chain.start();
      chain.wait();
      require(element(window, 999) == 7, "nothing came");
    }
  };
  EXPECT_EQ(run_staged(2, body), "");
}

// The error names a partner that does not start its step.
TEST(Staged, AStepThatNobodyAnswers) {
  const auto body = [](World& world, StagingDouble&) {
    const Window<int> window = world.window<int>(2);
    Chain chain = world.chain("alone", {.time_limit = std::chrono::seconds(1)});
    const int partner = 1 - world.rank();
    chain.put(window.on(partner).at(0), window.at(1), block(1)).expect(partner).commit();
    if (world.rank() == 0) {
      chain.start();
      chain.wait();
    } else {
      world.barrier();
    }
  };
  const std::string message = run_staged(2, body);
  EXPECT_NE(message.find("in step 1 of chain 'alone' for rank 1"), std::string::npos) << message;
}

// All partners take part, but the accelerator does not finish its work.
TEST(Staged, AStepThatTheAcceleratorDoesNotFinish) {
  const auto body = [](World& world, StagingDouble& stager) {
    const Window<int> window = world.window<int>(2);
    Chain chain = world.chain("stuck", {.time_limit = std::chrono::seconds(1)});
    const int partner = 1 - world.rank();
    chain.put(window.on(partner).at(0), window.at(1), block(1)).expect(partner).commit();
    stager.is_busy = world.rank() == 0;
    chain.start();
    chain.wait();
    world.barrier();
  };
  const std::string message = run_staged(2, body);
  EXPECT_NE(message.find("in step 1 of chain 'stuck' for its own part of it"), std::string::npos) << message;
}

// The double's memory is really host memory, so MPI can access it.
TEST(Staged, InTheAcceleratorsMemoryWhereMpiTakesIt) {
  struct Case {
    const char* answer;
    bool loses_bytes;
    fabric::StageMemory memory;
  };
  for (const Case& one :
       {Case{"on", false, fabric::StageMemory::accelerator}, Case{"on", true, fabric::StageMemory::host},
        Case{"off", false, fabric::StageMemory::host}}) {
    const auto body = [&](World& world, StagingDouble& stager) {
      const Window<int> window = world.window<int>(200'000);
      Chain chain = world.chain("pair");
      const int partner = 1 - world.rank();
      chain.put(window.on(partner).at(0), window.at(100'000), block(100'000)).expect(partner).commit();
      require(stager.latest == one.memory, "the stage is in the other memory");
      fill(window, 100'000, 100'000, world.rank() + 7);
      chain.start();
      chain.wait();
      require(element(window, 99'999) == partner + 7, "the wrong bytes came");
    };
    setenv("OPENTCA_CUDA_AWARE", one.answer, 1);
    EXPECT_EQ(run_staged(2, body, one.loses_bytes), "") << one.answer << one.loses_bytes;
  }
  setenv("OPENTCA_CUDA_AWARE", "perhaps", 1);
  const std::string message = run_staged(2, [](World&, StagingDouble&) {});
  unsetenv("OPENTCA_CUDA_AWARE");
  EXPECT_NE(message.find("OPENTCA_CUDA_AWARE=perhaps"), std::string::npos) << message;
}

// A destroyed chain leaves its stage's memory behind only if MPI may still move bytes in it. The confirmation
// that a lagging partner owes every eight steps moves none.
TEST(Staged, MemoryGoesWithAChainAtRest) {
  constexpr int steps = 8;
  const auto body = [](World& world, StagingDouble& stager) {
    const Window<int> window = world.window<int>(2);
    {
      Chain chain = world.chain("one way");
      if (world.rank() == 0) chain.put(window.on(1).at(0), window.at(1), block(1));
      if (world.rank() == 1) chain.expect(0);
      chain.commit();
      if (world.rank() == 1) world.barrier();  // the sender has completed its steps
      for (int step = 0; step < steps; ++step) {
        chain.start();
        chain.wait();
      }
    }
    if (world.rank() == 0) world.barrier();
    world.chain("another").commit();  // tells all ranks that all have dropped the first chain
    require(stager.kept == 0, "{} stages were kept", stager.kept);
  };
  EXPECT_EQ(run_staged(2, body), "");
}

// A chain is destroyed in the middle of a step. Its stage stays as long as MPI still moves bytes in it, and
// other chains go on.
TEST(Staged, AChainGoesInTheMiddleOfAStep) {
  const auto body = [](World& world, StagingDouble& stager) {
    constexpr int elements = 2'000'000;
    const Window<int> window = world.window<int>(2 * elements);
    const int partner = 1 - world.rank();
    const auto commit = [&](const char* name) {
      Chain chain = world.chain(name);
      chain.put(window.on(partner).at(0), window.at(elements), block(elements)).expect(partner).commit();
      return chain;
    };
    for (const bool begins : {true, world.rank() == 0}) {
      Chain chain = commit("given up");
      const int taken = stager.taken;
      if (begins) {
        chain.start();
        const bool carried = base::await([&] { return stager.taken > taken; }, std::chrono::seconds(20)).done;
        require(carried, "nobody carries the step");
      }
      stager.own.synchronize();
      world.barrier();
    }
    for (int step = 1; step <= 3; ++step) {
      Chain chain = commit("another");
      fill(window, elements, elements, world.rank() + step);
      chain.start();
      chain.wait();
      require(element(window, elements - 1) == partner + step, "the wrong bytes came");
    }
    require(stager.kept == 0, "{} stages were kept", stager.kept);
  };
  EXPECT_EQ(run_staged(2, body), "");
}

// When one rank has no memory for its stage, all ranks get the error, and all may go on with another chain.
TEST(Staged, AStageThatOneRankCannotMakeIsRefusedByAll) {
  const auto body = [](World& world, StagingDouble& stager) {
    const Window<int> window = world.window<int>(2);
    const int partner = 1 - world.rank();
    const auto commit = [&](const char* name) {
      Chain chain = world.chain(name);
      chain.put(window.on(partner).at(0), window.at(1), block(1)).expect(partner).commit();
      chain.start();
      chain.wait();
    };
    stager.is_full = world.rank() == 1;
    try {
      commit("too much");
      require(false, "nothing was thrown");
    } catch (const Error& error) {
      require(error.code() == Errc::out_of_memory, "{}", error.what());
      require(std::string(error.what()) == "rank 1: the double is full", "{}", error.what());
    }
    stager.is_full = false;
    commit("enough");
  };
  EXPECT_EQ(run_staged(2, body), "");
}

}  // namespace
}  // namespace tca::test

int main(int argc, char** argv) { return tca::test::run_tests_over_mpi(argc, argv, true); }
