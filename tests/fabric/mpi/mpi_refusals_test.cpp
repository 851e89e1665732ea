// Tests commits that fail half-way because MPI refuses one rank one of the objects that a chain is made of.
// Every rank gets the error, all objects made so far are freed, and the world stays usable. This file wraps
// the MPI calls that make and free handles.
#include <mpi.h>

#include "messages.hpp"
#include "mpi_ranks.hpp"
#include "suite.hpp"

namespace {

struct Made {
  int requests = 0, types = 0, groups = 0, windows = 0;
  bool operator==(const Made&) const = default;
};

Made live;          // handles that have not been freed
int refuse_in = 0;  // the n-th call that makes a handle fails; 0: none fails

int make(int& count, int made) {
  if (made == MPI_SUCCESS) ++count;
  return made;
}
bool refuses() { return refuse_in > 0 && --refuse_in == 0; }

}  // namespace

extern "C" {

int MPI_Recv_init(void* to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (refuses()) return MPI_ERR_OTHER;
  return make(live.requests, PMPI_Recv_init(to, count, type, rank, tag, comm, request));
}
int MPI_Send_init(const void* from, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm,
                  MPI_Request* request) {
  if (refuses()) return MPI_ERR_OTHER;
  return make(live.requests, PMPI_Send_init(from, count, type, rank, tag, comm, request));
}
int MPI_Request_free(MPI_Request* request) {
  --live.requests;
  return PMPI_Request_free(request);
}

int MPI_Type_create_hvector(int count, int block, MPI_Aint pitch, MPI_Datatype of, MPI_Datatype* type) {
  if (refuses()) return MPI_ERR_OTHER;
  return make(live.types, PMPI_Type_create_hvector(count, block, pitch, of, type));
}
int MPI_Type_create_struct(int count, const int* blocks, const MPI_Aint* places, const MPI_Datatype* of,
                           MPI_Datatype* type) {
  if (refuses()) return MPI_ERR_OTHER;
  return make(live.types, PMPI_Type_create_struct(count, blocks, places, of, type));
}
int MPI_Type_commit(MPI_Datatype* type) { return refuses() ? MPI_ERR_OTHER : PMPI_Type_commit(type); }
int MPI_Type_free(MPI_Datatype* type) {
  --live.types;
  return PMPI_Type_free(type);
}

int MPI_Comm_group(MPI_Comm comm, MPI_Group* group) {
  if (refuses()) return MPI_ERR_OTHER;
  return make(live.groups, PMPI_Comm_group(comm, group));
}
int MPI_Group_incl(MPI_Group of, int count, const int* ranks, MPI_Group* group) {
  if (refuses()) return MPI_ERR_OTHER;
  return make(live.groups, PMPI_Group_incl(of, count, ranks, group));
}
int MPI_Group_free(MPI_Group* group) {
  --live.groups;
  return PMPI_Group_free(group);
}

// The call is collective, so it first completes on all ranks and only then fails on this one.
int MPI_Win_create(void* memory, MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* window) {
  MPI_Win made;
  const int code = PMPI_Win_create(memory, bytes, unit, info, comm, &made);
  if (refuses()) return MPI_ERR_OTHER;
  *window = made;
  return make(live.windows, code);
}
int MPI_Win_free(MPI_Win* window) {
  --live.windows;
  return PMPI_Win_free(window);
}

}  // extern "C"

namespace tca::test {
namespace {

// Commits a chain with puts in both directions over this channel, strided and in two windows, and runs a step.
void commit(World& world, const std::vector<Window<int>>& windows, const std::string& channel) {
  Chain chain = world.chain("refused", {.channel = channel});
  const int partner = 1 - world.rank();
  for (const Window<int>& window : windows)
    chain.put(window.on(partner).at(0), stride(100, 2), window.at(200), block(100));
  chain.expect(partner).commit();
  chain.start();
  chain.wait();
}

class Refusals : public testing::TestWithParam<std::string> {};

TEST_P(Refusals, GiveBackWhatWasMade) {
  const auto body = [](World& world) {
    const std::vector<Window<int>> windows{world.window<int>(300), world.window<int>(300)};
    const auto collect = [&] { return world.window<int>(1); };
    for (int call = 1;; ++call) {
      require(call < 100, "every commit is refused");
      const Made before = live;
      refuse_in = world.rank() == 1 ? call : 0;
      const Caught error = caught([&] { commit(world, windows, GetParam()); });
      const bool refused = world.all_gather(refuse_in)[1] == 0;
      refuse_in = 0;
      collect();
      if (refused) {
        require(error.code == Errc::refused && says(error.message, {"MPI"}), "{}", error.message);
        require(
            says(error.message, {"rank 1: MPI failed while"}) || says(error.message, {"makes no windows"}),
            "{}", error.message);
      }
      if (!refused && GetParam() == "mpi/rma") break;  // what it made stays until the world ends
      Made after = live;
      // Rank 0 got the very window that rank 1 was refused.
      if (says(error.message, {"makes no windows"}) && world.rank() == 0) --after.windows;
      require(after == before, "call {}: {} requests, {} types, {} groups, {} windows are left", call,
              after.requests - before.requests, after.types - before.types, after.groups - before.groups,
              after.windows - before.windows);
      if (!refused) break;
    }
  };
  EXPECT_EQ(mpi_backend("mpi", 0, {}).make()->run(2, body, {.time_limit = std::chrono::seconds(5)}), "");
}

TEST_P(Refusals, MayBeFollowedByAnotherTry) {
  const auto body = [](World& world) {
    const Window<int> window = world.window<int>(2);
    window[1] = 100 + world.rank();
    const int partner = 1 - world.rank();
    Chain chain = world.chain("tried again", {.channel = GetParam()});
    chain.put(window.on(partner).at(0), window.at(1), block(1)).expect(partner);
    refuse_in = world.rank() == 1 ? 1 : 0;
    const Caught error = caught([&] { chain.commit(); });
    refuse_in = 0;
    require(error.code == Errc::refused, "{}", error.message);
    chain.commit();
    for (int step = 0; step < 3; ++step) {
      window[0] = 0;
      world.barrier();
      chain.start();
      chain.wait();
      require(window[0] == 100 + partner, "{} has come", window[0]);
      world.barrier();
    }
  };
  for (const char* fabric : {"mpi", "shm+mpi"})
    EXPECT_EQ(mpi_backend(fabric, 1, {}).make()->run(2, body, {.time_limit = std::chrono::seconds(5)}), "");
}

INSTANTIATE_TEST_SUITE_P(Mpi, Refusals, testing::Values("mpi/datatype", "mpi/packed", "mpi/rma"),
                         [](const auto& test) { return test.param.substr(4); });

}  // namespace
}  // namespace tca::test
