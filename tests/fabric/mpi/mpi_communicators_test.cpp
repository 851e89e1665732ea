// Tests worlds on whatever communicators MPI has: inter-communicators, null ones, ones with a topology and
// ones with an error handler.
#include <mpi.h>

#include <array>

#include "messages.hpp"
#include "mpi_ranks.hpp"
#include "suite.hpp"
#include "tca/mpi.hpp"

namespace tca::test {
namespace {

using Body = std::function<void(MPI_Comm comm, const WorldOptions& options)>;

// Runs `body` on each rank of a communicator of so many ranks. Returns the first error.
std::string run_on_communicator(int ranks, const Body& body) {
  const auto in_world = [&](const void* comm, const Ranks::Body&, const WorldOptions& options) {
    body(*static_cast<const MPI_Comm*>(comm), options);
  };
  return mpi_backend("any", in_world, {})
      .make()
      ->run(ranks, [](World&) {}, {.time_limit = std::chrono::seconds(25)});
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

// Moves a value from each rank to the next one, over every fabric. Expects the ranks that `comm` has.
void expect_works(MPI_Comm comm, WorldOptions options) {
  for (const char* fabric : {"mpi", "shm+mpi"}) {
    options.fabric = fabric;
    World world = World::from_mpi(comm, options);
    const int me = world.rank(), size = world.size(), next = (me + 1) % size;
    require(me == rank_in(comm), "rank {} is rank {} of the world", rank_in(comm), me);
    const Window<int> window = world.window<int>(2);
    window[0] = 100 + me;
    Chain chain = world.chain("ring");
    chain.put(window.on(next).at(1), window.at(0), block(1)).expect((me + size - 1) % size).commit();
    chain.run();
    require(window[1] == 100 + (me + size - 1) % size, "rank {} got {}", me, window[1]);
    world.barrier();
  }
}

// Returns an inter-communicator between the even and the odd ranks of `comm`.
MPI_Comm between_even_and_odd(MPI_Comm comm) {
  const int me = rank_in(comm);
  MPI_Comm half, both;
  MPI_Comm_split(comm, me % 2, me, &half);
  MPI_Intercomm_create(half, 0, comm, 1 - me % 2, 1, &both);
  MPI_Comm_free(&half);
  return both;
}

TEST(MpiCommunicators, OfTwoGroupsAreRefusedOnAllTheirRanks) {
  const auto body = [](MPI_Comm comm, const WorldOptions& options) {
    MPI_Comm both = between_even_and_odd(comm), merged;
    const Caught error = caught([&] { return World::from_mpi(both, options); });
    require(error.code == Errc::invalid_argument, "{}", error.message);
    require(says(error.message, {"inter-communicator", "MPI_Intercomm_merge"}), "{}", error.message);
    // What the message says to do.
    MPI_Intercomm_merge(both, 0, &merged);
    expect_works(merged, options);
    MPI_Comm_free(&merged);
    MPI_Comm_free(&both);
  };
  EXPECT_EQ(run_on_communicator(4, body), "");
}

TEST(MpiCommunicators, ThatAreFreedAreRefused) {
  const auto body = [](MPI_Comm comm, const WorldOptions& options) {
    MPI_Comm freed;
    MPI_Comm_dup(comm, &freed);
    const MPI_Comm copy = freed;
    MPI_Comm_free(&freed);
    const auto expect_refused = [&](MPI_Comm of, std::initializer_list<std::string_view> parts) {
      const Caught error = caught([&] { return World::from_mpi(of, options); });
      require(error.code == Errc::invalid_argument && says(error.message, parts), "{}", error.message);
    };
    expect_refused(freed, {"MPI_COMM_NULL", "freed"});
    expect_refused(copy, {"freed", "MPI_Comm_free of a copy"});
  };
  EXPECT_EQ(run_on_communicator(2, body), "");
}

TEST(MpiCommunicators, MayHaveATopology) {
  const auto body = [](MPI_Comm comm, const WorldOptions& options) {
    const int extents[]{2, 2}, periodic[]{1, 0};
    MPI_Comm grid;
    MPI_Cart_create(comm, 2, extents, periodic, 1, &grid);
    expect_works(grid, options);
    MPI_Comm_free(&grid);
    const int me = rank_in(comm), next = (me + 1) % 4;
    MPI_Comm ring;
    MPI_Dist_graph_create(comm, 1, &me, std::array{1}.data(), &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    expect_works(ring, options);
    MPI_Comm_free(&ring);
  };
  EXPECT_EQ(run_on_communicator(4, body), "");
}

int handled = 0;  // calls of the program's own error handler
void handle(MPI_Comm*, int*, ...) { ++handled; }

MPI_Errhandler handler_of(MPI_Comm comm) {
  MPI_Errhandler handler;
  MPI_Comm_get_errhandler(comm, &handler);
  return handler;
}

TEST(MpiCommunicators, MayHaveAnyErrorHandlerWhichIsLeftAlone) {
  const auto body = [](MPI_Comm comm, const WorldOptions& options) {
    MPI_Errhandler own;
    MPI_Comm_create_errhandler(handle, &own);
    MPI_Errhandler of_world = handler_of(MPI_COMM_WORLD);
    for (MPI_Errhandler handler : {MPI_ERRORS_RETURN, own}) {
      MPI_Comm_set_errhandler(comm, handler);
      expect_works(comm, options);
      MPI_Comm both = between_even_and_odd(comm);
      MPI_Comm_set_errhandler(both, handler);
      require(caught([&] { return World::from_mpi(both, options); }).code == Errc::invalid_argument,
              "no error");
      MPI_Comm_free(&both);
      MPI_Errhandler after = handler_of(comm), world_after = handler_of(MPI_COMM_WORLD);
      require(after == handler && world_after == of_world, "another error handler is set");
      MPI_Errhandler_free(&after);
      MPI_Errhandler_free(&world_after);
    }
    require(handled == 0, "the program's handler was called {} times", handled);
    MPI_Errhandler_free(&own);
    MPI_Errhandler_free(&of_world);
  };
  EXPECT_EQ(run_on_communicator(2, body), "");
}

}  // namespace
}  // namespace tca::test
