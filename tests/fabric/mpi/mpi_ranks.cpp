#include "mpi_ranks.hpp"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "tca/mpi.hpp"

namespace tca::test {

namespace {

constexpr std::size_t message_bytes = 2048;
using Text = std::array<char, message_bytes>;

// What a rank reports. A rank that has lost another one (rank_lost) knows less than the one that failed, so
// its report is not first hand.
struct Outcome {
  bool first_hand = false;
  Text text{};
};

Outcome run_body(MPI_Comm comm, const InWorld& in_world, const Ranks::Body& body,
                 const WorldOptions& options) {
  Outcome outcome;
  const auto say = [&](bool first_hand, const char* what) {
    outcome.first_hand = first_hand;
    std::string(what).copy(outcome.text.data(), message_bytes - 1);
  };
  try {
    in_world(&comm, body, options);
  } catch (const Error& error) {
    say(error.code() != Errc::rank_lost, error.what());
  } catch (const std::exception& error) {
    say(true, error.what());
  }
  return outcome;
}

// Returns the first error of all ranks, first-hand reports preferred. All processes get the same result.
std::string agree(const Outcome& mine) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<Outcome> all(static_cast<std::size_t>(size));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all.data(), sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  std::string effect;
  for (const Outcome& outcome : all) {
    const std::string text = outcome.text.data();
    if (!text.empty() && outcome.first_hand) return text;
    if (effect.empty()) effect = text;
  }
  return effect;
}

class MpiRanks final : public Ranks {
 public:
  explicit MpiRanks(InWorld in_world) : in_world_(std::move(in_world)) {}

  std::string run(int ranks, const Body& body, const WorldOptions& options) override {
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < ranks) return fmt::format("{} processes are too few for {} ranks", size, ranks);
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, rank < ranks ? 0 : MPI_UNDEFINED, rank, &comm);
    Outcome outcome;
    if (comm != MPI_COMM_NULL) outcome = run_body(comm, in_world_, body, options);
    std::string message = agree(outcome);
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    return message;
  }

 private:
  InWorld in_world_;
};

}  // namespace

Backend mpi_backend(std::string name, InWorld in_world, std::vector<std::string> channels) {
  return {std::move(name), [=] { return std::make_unique<MpiRanks>(in_world); }, std::move(channels), 10, 5};
}

Backend mpi_backend(const std::string& fabric, int sub_cluster, std::vector<std::string> channels) {
  std::string name = sub_cluster > 0 ? fmt::format("{}_by_{}", fabric, sub_cluster) : fabric;
  std::replace(name.begin(), name.end(), '+', '_');
  const auto in_world = [=](const void* comm, const Ranks::Body& body, const WorldOptions& given) {
    WorldOptions options = given;
    options.fabric = fabric;
    unsetenv("OPENTCA_SUBCLUSTER");
    if (sub_cluster > 0) setenv("OPENTCA_SUBCLUSTER", std::to_string(sub_cluster).c_str(), 1);
    World world = World::from_mpi(*static_cast<const MPI_Comm*>(comm), options);
    body(world);
    world.barrier();  // MPI moves what this rank has sent only while the rank calls it
  };
  return mpi_backend(std::move(name), in_world, std::move(channels));
}

int run_tests_over_mpi(int argc, char** argv, bool by_threads) {
  int rank = 0, given = 0;
  if (by_threads)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  else
    MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  testing::InitGoogleTest(&argc, argv);
  int result = 0;
  if (rank > 0) {
    testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  if (rank == 0 || !testing::GTEST_FLAG(list_tests)) result = RUN_ALL_TESTS();
  MPI_Finalize();
  return result;
}

}  // namespace tca::test
