// As in MPI, an error ends the program.
#include <fmt/format.h>
#include <mpi/mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "shared/program_rank.hpp"
#include "tca/error.hpp"

namespace tca::on_model {
namespace {

constexpr int other_error = 15;

[[noreturn]] void end(int status, const std::string& why) {
  fmt::print(stderr, "{}\n", why);
  std::fflush(nullptr);
  exit(status);  // of the rank
}

template <class Body>
int guarded(const char* call, const Body& body) {
  try {
    body(bindings::ProgramRank::mine().world());
    return MPI_SUCCESS;
  } catch (const Error& error) {
    end(error.exit_code(), fmt::format("{}: {}", call, error.what()));
  }
}

std::size_t size_of(MPI_Datatype type) {
  switch (type) {
    case MPI_BYTE:
    case MPI_CHAR:
      return 1;
    case MPI_INT:
    case MPI_UNSIGNED:
    case MPI_FLOAT:
      return 4;
    case MPI_LONG:
    case MPI_UNSIGNED_LONG:
    case MPI_LONG_LONG:
    case MPI_UNSIGNED_LONG_LONG:
    case MPI_DOUBLE:
      return 8;
    default:
      end(other_error, "a type that the few calls of MPI on the model do not know");
  }
}

std::size_t bytes_of(int count, MPI_Datatype type) { return static_cast<std::size_t>(count) * size_of(type); }

// Everybody's bytes, by rank.
std::vector<std::byte> gathered(World& world, const void* mine, std::size_t bytes) {
  std::vector<std::byte> all(bytes * static_cast<std::size_t>(world.size()));
  world.all_gather({static_cast<const std::byte*>(mine), bytes}, all);
  return all;
}

template <class T>
void combine(T* result, const T* values, int count, MPI_Op op) {
  for (int i = 0; i < count; ++i) {
    switch (op) {
      case MPI_SUM:
        result[i] = static_cast<T>(result[i] + values[i]);
        break;
      case MPI_PROD:
        result[i] = static_cast<T>(result[i] * values[i]);
        break;
      case MPI_MIN:
        result[i] = std::min(result[i], values[i]);
        break;
      default:
        result[i] = std::max(result[i], values[i]);
    }
  }
}

void combine(void* result, const void* values, int count, MPI_Datatype type, MPI_Op op) {
  const auto as = [&]<class T>(T) {
    combine(static_cast<T*>(result), static_cast<const T*>(values), count, op);
  };
  switch (type) {
    case MPI_INT:
      return as(int{});
    case MPI_UNSIGNED:
      return as(0U);
    case MPI_LONG:
    case MPI_LONG_LONG:
      return as(0L);
    case MPI_UNSIGNED_LONG:
    case MPI_UNSIGNED_LONG_LONG:
      return as(0UL);
    case MPI_FLOAT:
      return as(0.0F);
    case MPI_DOUBLE:
      return as(0.0);
    default:
      end(other_error, "a reduction of a type that has no numbers");
  }
}

// Rank after rank, so that all get the same bits.
void reduce(World& world, const void* mine, void* result, int count, MPI_Datatype type, MPI_Op op,
            bool wanted) {
  const std::size_t bytes = bytes_of(count, type);
  const std::vector<std::byte> all = gathered(world, mine == MPI_IN_PLACE ? result : mine, bytes);
  if (!wanted) return;
  std::memcpy(result, all.data(), bytes);
  for (int rank = 1; rank < world.size(); ++rank)
    combine(result, all.data() + static_cast<std::size_t>(rank) * bytes, count, type, op);
}

const void* part_of(World& world, const void* mine, void* all, std::size_t bytes) {
  if (mine != MPI_IN_PLACE) return mine;
  return static_cast<const std::byte*>(all) + static_cast<std::size_t>(world.rank()) * bytes;
}

}  // namespace
}  // namespace tca::on_model

using namespace tca::on_model;

int MPI_Init(int*, char***) {
  return guarded("MPI_Init", [](tca::World&) {});
}
int MPI_Init_thread(int* argc, char*** argv, int, int* provided) {
  *provided = MPI_THREAD_SINGLE;
  return MPI_Init(argc, argv);
}
int MPI_Initialized(int* flag) {
  *flag = 1;  // a rank of the model is there from the beginning
  return MPI_SUCCESS;
}
int MPI_Finalize() { return MPI_Barrier(MPI_COMM_WORLD); }
int MPI_Abort(MPI_Comm, int status) { end(status, fmt::format("MPI_Abort with {}", status)); }

int MPI_Comm_rank(MPI_Comm, int* rank) {
  return guarded("MPI_Comm_rank", [&](tca::World& world) { *rank = world.rank(); });
}
int MPI_Comm_size(MPI_Comm, int* size) {
  return guarded("MPI_Comm_size", [&](tca::World& world) { *size = world.size(); });
}
int MPI_Get_processor_name(char* name, int* length) {
  return guarded("MPI_Get_processor_name", [&](tca::World& world) {
    *length = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "rank%d", world.rank());
  });
}
double MPI_Wtime() {
  double seconds = 0;
  guarded("MPI_Wtime", [&](tca::World& world) { seconds = world.now().count(); });
  return seconds;
}

int MPI_Barrier(MPI_Comm) {
  return guarded("MPI_Barrier", [](tca::World& world) { world.barrier(); });
}

int MPI_Bcast(void* values, int count, MPI_Datatype type, int root, MPI_Comm) {
  return guarded("MPI_Bcast", [&](tca::World& world) {
    const std::size_t bytes = bytes_of(count, type);
    const std::vector<std::byte> all = gathered(world, values, bytes);
    std::memcpy(values, all.data() + static_cast<std::size_t>(root) * bytes, bytes);
  });
}

int MPI_Gather(const void* mine, int count, MPI_Datatype type, void* all, int count_of_each,
               MPI_Datatype type_of_each, int root, MPI_Comm) {
  return guarded("MPI_Gather", [&](tca::World& world) {
    const bool wanted = world.rank() == root;
    const std::size_t bytes =
        mine == MPI_IN_PLACE ? bytes_of(count_of_each, type_of_each) : bytes_of(count, type);
    const std::vector<std::byte> whole = gathered(world, part_of(world, mine, all, bytes), bytes);
    if (wanted) std::memcpy(all, whole.data(), whole.size());
  });
}

int MPI_Allgather(const void* mine, int, MPI_Datatype, void* all, int count_of_each,
                  MPI_Datatype type_of_each, MPI_Comm) {
  return guarded("MPI_Allgather", [&](tca::World& world) {
    const std::size_t bytes = bytes_of(count_of_each, type_of_each);
    const std::vector<std::byte> whole = gathered(world, part_of(world, mine, all, bytes), bytes);
    std::memcpy(all, whole.data(), whole.size());
  });
}

int MPI_Alltoall(const void* mine, int, MPI_Datatype, void* theirs, int count_of_each,
                 MPI_Datatype type_of_each, MPI_Comm) {
  return guarded("MPI_Alltoall", [&](tca::World& world) {
    const auto ranks = static_cast<std::size_t>(world.size()), me = static_cast<std::size_t>(world.rank());
    const std::size_t bytes = bytes_of(count_of_each, type_of_each);
    const std::vector<std::byte> all = gathered(world, mine == MPI_IN_PLACE ? theirs : mine, ranks * bytes);
    for (std::size_t rank = 0; rank < ranks; ++rank)
      std::memcpy(static_cast<std::byte*>(theirs) + rank * bytes, all.data() + (rank * ranks + me) * bytes,
                  bytes);
  });
}

int MPI_Reduce(const void* mine, void* result, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm) {
  return guarded("MPI_Reduce", [&](tca::World& world) {
    reduce(world, mine, result, count, type, op, world.rank() == root);
  });
}

int MPI_Allreduce(const void* mine, void* result, int count, MPI_Datatype type, MPI_Op op, MPI_Comm) {
  return guarded("MPI_Allreduce",
                 [&](tca::World& world) { reduce(world, mine, result, count, type, op, true); });
}
