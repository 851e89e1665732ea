#include "mpi/coll/serve.hpp"

#include <cstring>

#include "mpi/coll/communicator.hpp"
#include "mpi/coll/moved.hpp"
#include "mpi/session.hpp"
#include "mpi/tally.hpp"
#include "tca/error.hpp"

namespace tca::interposer {

namespace {

// Ends as MPI ends where a collective fails: by the communicator's error handler.
int fail(MPI_Comm comm, const Error& error) {
  Session::get().say_here(error.what());
  PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

template <Call call>
Prepared* find_prepared(const Shape& shape, MPI_Comm comm) {
  static const bool allowed = Settings::get().allows(Hooked<call>::name);
  Way way = allowed ? Way::communicator : Way::denied;
  Prepared* prepared = nullptr;
  Communicator* const known = allowed ? Communicator::find(comm) : nullptr;
  if (known != nullptr) {
    const bool is_valid = (shape.count > 0 || shape.kind == CollectiveKind::barrier) && shape.root >= 0 &&
                          shape.root < known->size();
    way = Way::type;
    if (is_valid) prepared = known->prepared(shape, way);
  }
  tally.count(call, way);
  return prepared;
}

// `collective` copies in, runs, and copies out; it is left to MPI where there is nothing prepared for it.
template <Call call, class Collective, class... Arguments>
int serve_or_pass(const Shape& shape, MPI_Comm comm, const Collective& collective, Arguments... arguments) {
  Prepared* const prepared = find_prepared<call>(shape, comm);
  if (prepared == nullptr) return next<call>()(arguments...);
  try {
    collective(*prepared, *Communicator::find(comm));
    return MPI_SUCCESS;
  } catch (const Error& error) {
    return fail(comm, error);
  }
}

std::size_t bytes_of(const Shape& shape) {
  return static_cast<std::size_t>(shape.count) * find_element(shape.type)->bytes;
}

}  // namespace

int Served<Call::Barrier>::serve(MPI_Comm comm) {
  return serve_or_pass<Call::Barrier>({}, comm, [](Prepared& prepared, const Communicator&) { prepared.run(); }, comm);
}

int Served<Call::Bcast>::serve(void* buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Moved moved(buffer, count, type);
  return serve_or_pass<Call::Bcast>(
      {CollectiveKind::broadcast, root, moved.bytes()}, comm,
      [&](Prepared& prepared, const Communicator& known) {
        if (known.rank() == root) moved.read_into(prepared.from());
        prepared.run();
        if (known.rank() != root) moved.write_from(prepared.to());
      },
      buffer, count, type, root, comm);
}

int Served<Call::Reduce>::serve(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op, int root,
                                MPI_Comm comm) {
  const Shape shape{CollectiveKind::all_reduce, 0, count, type, op};
  return serve_or_pass<Call::Reduce>(
      shape, comm,
      [&](Prepared& prepared, const Communicator& known) {
        std::memcpy(prepared.from(), from == MPI_IN_PLACE ? to : from, bytes_of(shape));
        prepared.run();
        if (known.rank() == root) std::memcpy(to, prepared.to(), bytes_of(shape));
      },
      from, to, count, type, op, root, comm);
}

int Served<Call::Allreduce>::serve(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                                   MPI_Comm comm) {
  const Shape shape{CollectiveKind::all_reduce, 0, count, type, op};
  return serve_or_pass<Call::Allreduce>(
      shape, comm,
      [&](Prepared& prepared, const Communicator&) {
        std::memcpy(prepared.from(), from == MPI_IN_PLACE ? to : from, bytes_of(shape));
        prepared.run();
        std::memcpy(to, prepared.to(), bytes_of(shape));
      },
      from, to, count, type, op, comm);
}

int Served<Call::Allgather>::serve(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                   MPI_Datatype to_type, MPI_Comm comm) {
  const std::int64_t block = Moved(to, to_count, to_type).bytes();
  return serve_or_pass<Call::Allgather>(
      {CollectiveKind::all_gather, 0, block}, comm,
      [&](Prepared& prepared, const Communicator& known) {
        std::byte* const place = prepared.from() + known.rank() * block;
        if (from == MPI_IN_PLACE)
          Moved(to, to_count, to_type).block(known.rank()).read_into(place);
        else
          Moved(from, count, type).read_into(place);
        prepared.run();
        Moved(to, to_count, to_type).blocks(known.size()).write_from(prepared.to());
      },
      from, count, type, to, to_count, to_type, comm);
}

int Served<Call::Alltoall>::serve(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                  MPI_Datatype to_type, MPI_Comm comm) {
  return serve_or_pass<Call::Alltoall>(
      {CollectiveKind::all_to_all, 0, Moved(to, to_count, to_type).bytes()}, comm,
      [&](Prepared& prepared, const Communicator& known) {
        const Moved received = Moved(to, to_count, to_type).blocks(known.size());
        const Moved sent = Moved(from, count, type).blocks(known.size());
        (from == MPI_IN_PLACE ? received : sent).read_into(prepared.from());
        prepared.run();
        received.write_from(prepared.to());
      },
      from, count, type, to, to_count, to_type, comm);
}

int Served<Call::Reduce_scatter_block>::serve(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                                              MPI_Comm comm) {
  const Shape shape{CollectiveKind::reduce_scatter, 0, count, type, op};
  return serve_or_pass<Call::Reduce_scatter_block>(
      shape, comm,
      [&](Prepared& prepared, const Communicator& known) {
        std::memcpy(prepared.from(), from == MPI_IN_PLACE ? to : from,
                    bytes_of(shape) * static_cast<std::size_t>(known.size()));
        prepared.run();
        std::memcpy(to, prepared.to(), bytes_of(shape));
      },
      from, to, count, type, op, comm);
}

}  // namespace tca::interposer
