#include "mpi/coll/serve.hpp"

#include <exception>

#include "mpi/coll/check.hpp"
#include "mpi/coll/communicator.hpp"
#include "mpi/coll/limits.hpp"
#include "mpi/coll/moved.hpp"
#include "mpi/coll/on_host.hpp"
#include "mpi/coll/serving.hpp"
#include "mpi/deny.hpp"
#include "mpi/gpu/gpu.hpp"
#include "mpi/tally.hpp"

namespace tca::interposer {

namespace {

// Returns the bytes of a block, or -1 for elements that are not combined.
std::int64_t bytes_of(const Shape& shape) {
  if (shape.op == MPI_OP_NULL) return shape.count;
  const Element* const element = find_element(shape.type);
  return element != nullptr ? shape.count * static_cast<std::int64_t>(element->bytes) : -1;
}

// What is combined goes as the bytes that it is, from one element to the next.
Moved bytes_at(const void* buffer, const Shape& shape, int blocks = 1) {
  return {buffer, bytes_of(shape) * blocks, MPI_BYTE};
}

template <Call call>
Prepared* find_prepared(const Shape& shape, MPI_Comm comm) {
  static_assert(is_served(Hooked<call>::name));
  static const bool allowed = Settings::get().allows(Hooked<call>::name);
  Way way = allowed ? Way::communicator : Way::denied;
  Prepared* prepared = nullptr;
  Communicator* const known = allowed ? Communicator::find(comm) : nullptr;
  if (known != nullptr) {
    const bool is_valid = (shape.count > 0 || shape.kind == CollectiveKind::barrier) && shape.root >= 0 &&
                          shape.root < known->size();
    const std::int64_t bytes = is_valid ? bytes_of(shape) : -1;
    way = bytes < 0 ? Way::type : Way::size;
    if (bytes >= 0 && served_sizes(call).contain(bytes)) prepared = known->prepared(shape, way);
  }
  tally.count(call, way);
  return prepared;
}

// What MPI gets of an argument: of a buffer where it can reach it, and anything else as it is.
void* for_mpi(OnHost& buffer) { return buffer.for_mpi(); }
template <class Value>
Value for_mpi(Value value) {
  return value;
}

template <Call call, class... Arguments>
int pass(Arguments&... arguments) {
  return next<call>()(for_mpi(arguments)...);
}

// `collective` copies in, runs, and copies out; it is left to MPI where there is nothing prepared for it. `output` says what of it
// this rank gets.
template <Call call, class Collective, class WhatIsWritten, class... Arguments>
int serve_or_pass(const Shape& shape, MPI_Comm comm, const Collective& collective,
                  const WhatIsWritten& output, Arguments&&... arguments) {
  Prepared* const prepared = find_prepared<call>(shape, comm);
  if (prepared == nullptr) return pass<call>(arguments...);
  const Communicator& known = *Communicator::find(comm);
  try {
    if (Settings::get().check) [[unlikely]]
      return compare<call>(
          output(known), [&] { collective(*prepared, known); }, [&] { return pass<call>(arguments...); });
    collective(*prepared, known);
    return MPI_SUCCESS;
  } catch (const std::exception& error) {
    return fail(comm, error);
  }
}

std::int64_t ranks_of(MPI_Comm comm) {
  int ranks = 0;
  if (gpu::may_be_there) PMPI_Comm_size(comm, &ranks);
  return ranks;
}

template <Call call, class Count>
int bcast(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  const Moved moved(buffer, count, type);
  return serve_or_pass<call>(
      {CollectiveKind::broadcast, root, moved.bytes()}, comm,
      [&](Prepared& prepared, const Communicator& known) {
        if (known.rank() == root) moved.read_into(prepared.from());
        prepared.run();
        if (known.rank() != root) moved.write_from(prepared.to());
      },
      [&](const Communicator&) { return Output{{moved}}; }, OnHost(buffer, count, type, true), count, type,
      root, comm);
}

template <Call call, class Count>
int reduce(const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  const Shape shape{CollectiveKind::all_reduce, 0, count, type, op};
  return serve_or_pass<call>(
      shape, comm,
      [&](Prepared& prepared, const Communicator& known) {
        bytes_at(from == MPI_IN_PLACE ? to : from, shape).read_into(prepared.from());
        prepared.run();
        if (known.rank() == root) bytes_at(to, shape).write_from(prepared.to());
      },
      [&](const Communicator& known) {
        return known.rank() == root ? Output{{Moved(to, count, type)}, find_element(type)} : Output{};
      },
      OnHost(from, count, type, false), OnHost(to, count, type, true), count, type, op, root, comm);
}

template <Call call, class Count>
int allreduce(const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  const Shape shape{CollectiveKind::all_reduce, 0, count, type, op};
  return serve_or_pass<call>(
      shape, comm,
      [&](Prepared& prepared, const Communicator&) {
        bytes_at(from == MPI_IN_PLACE ? to : from, shape).read_into(prepared.from());
        prepared.run();
        bytes_at(to, shape).write_from(prepared.to());
      },
      [&](const Communicator&) {
        return Output{{Moved(to, count, type)}, find_element(type)};
      },
      OnHost(from, count, type, false), OnHost(to, count, type, true), count, type, op, comm);
}

template <Call call, class Count>
int allgather(const void* from, Count count, MPI_Datatype type, void* to, Count to_count,
              MPI_Datatype to_type, MPI_Comm comm) {
  const std::int64_t block = Moved(to, to_count, to_type).bytes();
  return serve_or_pass<call>(
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
      [&](const Communicator& known) { return Output{{Moved(to, to_count, to_type).blocks(known.size())}}; },
      OnHost(from, count, type, false), count, type, OnHost(to, to_count * ranks_of(comm), to_type, true),
      to_count, to_type, comm);
}

template <Call call, class Count>
int alltoall(const void* from, Count count, MPI_Datatype type, void* to, Count to_count, MPI_Datatype to_type,
             MPI_Comm comm) {
  return serve_or_pass<call>(
      {CollectiveKind::all_to_all, 0, Moved(to, to_count, to_type).bytes()}, comm,
      [&](Prepared& prepared, const Communicator& known) {
        const Moved received = Moved(to, to_count, to_type).blocks(known.size());
        const Moved sent = Moved(from, count, type).blocks(known.size());
        (from == MPI_IN_PLACE ? received : sent).read_into(prepared.from());
        prepared.run();
        received.write_from(prepared.to());
      },
      [&](const Communicator& known) { return Output{{Moved(to, to_count, to_type).blocks(known.size())}}; },
      OnHost(from, count * ranks_of(comm), type, false), count, type,
      OnHost(to, to_count * ranks_of(comm), to_type, true), to_count, to_type, comm);
}

template <Call call, class Count>
int reduce_scatter_block(const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op,
                         MPI_Comm comm) {
  const Shape shape{CollectiveKind::reduce_scatter, 0, count, type, op};
  return serve_or_pass<call>(
      shape, comm,
      [&](Prepared& prepared, const Communicator& known) {
        bytes_at(from == MPI_IN_PLACE ? to : from, shape, known.size()).read_into(prepared.from());
        prepared.run();
        bytes_at(to, shape).write_from(prepared.to());
      },
      [&](const Communicator& known) {
        // In place, what MPI is to read again is all of the buffer; the rest of it is as it was.
        return Output{{Moved(to, count, type).blocks(from == MPI_IN_PLACE ? known.size() : 1)},
                      find_element(type)};
      },
      OnHost(from, count * ranks_of(comm), type, false),
      OnHost(to, from == MPI_IN_PLACE ? count * ranks_of(comm) : count, type, true), count, type, op, comm);
}

}  // namespace

int Served<Call::Barrier>::serve(MPI_Comm comm) {
  return serve_or_pass<Call::Barrier>(
      {}, comm, [](Prepared& prepared, const Communicator&) { prepared.run(); },
      [](const Communicator&) { return Output{}; }, comm);
}

#define TCA_SERVES(Count, c)                                                                                 \
  int Served<Call::Bcast##c>::serve(void* buffer, Count count, MPI_Datatype type, int root, MPI_Comm comm) { \
    return bcast<Call::Bcast##c>(buffer, count, type, root, comm);                                           \
  }                                                                                                          \
  int Served<Call::Reduce##c>::serve(const void* from, void* to, Count count, MPI_Datatype type, MPI_Op op,  \
                                     int root, MPI_Comm comm) {                                              \
    return reduce<Call::Reduce##c>(from, to, count, type, op, root, comm);                                   \
  }                                                                                                          \
  int Served<Call::Allreduce##c>::serve(const void* from, void* to, Count count, MPI_Datatype type,          \
                                        MPI_Op op, MPI_Comm comm) {                                          \
    return allreduce<Call::Allreduce##c>(from, to, count, type, op, comm);                                   \
  }                                                                                                          \
  int Served<Call::Allgather##c>::serve(const void* from, Count count, MPI_Datatype type, void* to,          \
                                        Count to_count, MPI_Datatype to_type, MPI_Comm comm) {               \
    return allgather<Call::Allgather##c>(from, count, type, to, to_count, to_type, comm);                    \
  }                                                                                                          \
  int Served<Call::Alltoall##c>::serve(const void* from, Count count, MPI_Datatype type, void* to,           \
                                       Count to_count, MPI_Datatype to_type, MPI_Comm comm) {                \
    return alltoall<Call::Alltoall##c>(from, count, type, to, to_count, to_type, comm);                      \
  }                                                                                                          \
  int Served<Call::Reduce_scatter_block##c>::serve(const void* from, void* to, Count count,                  \
                                                   MPI_Datatype type, MPI_Op op, MPI_Comm comm) {            \
    return reduce_scatter_block<Call::Reduce_scatter_block##c>(from, to, count, type, op, comm);             \
  }
TCA_FOR_COUNTS(TCA_SERVES)

}  // namespace tca::interposer
