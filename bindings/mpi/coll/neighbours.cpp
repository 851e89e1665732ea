#include <algorithm>
#include <exception>

#include "mpi/coll/limits.hpp"
#include "mpi/coll/serve.hpp"
#include "mpi/coll/serving.hpp"
#include "mpi/coll/topology.hpp"
#include "mpi/deny.hpp"
#include "mpi/gpu/gpu.hpp"
#include "mpi/tally.hpp"

namespace tca::interposer {

namespace {

constexpr EdgeOrder order_of(Call call) {
  switch (with_small_counts(call)) {
    case Call::Neighbor_alltoallv:
      return EdgeOrder::alltoallv;
    case Call::Neighbor_alltoallw:
      return EdgeOrder::alltoallw;
    default:
      return EdgeOrder::alltoall;
  }
}

// What a call says of its blocks on one side, each of them by the number of its edge.
class SameBlock {
 public:
  SameBlock(const void* buffer, std::int64_t count, MPI_Datatype type) : block_(buffer, count, type) {}
  bool is_valid() const { return block_.count() >= 0 && block_.type() != MPI_DATATYPE_NULL; }
  const Moved& operator()(int) const { return block_; }
  OnHost for_mpi(int, bool is_written) const {
    return {block_.buffer(), block_.count(), block_.type(), is_written};
  }

 private:
  Moved block_;
};

class BlocksInARow {
 public:
  BlocksInARow(const void* buffer, std::int64_t count, MPI_Datatype type) : first_(buffer, count, type) {}
  bool is_valid() const { return first_.count() >= 0 && first_.type() != MPI_DATATYPE_NULL; }
  Moved operator()(int edge) const { return first_.block(edge); }
  OnHost for_mpi(int edges, bool is_written) const {
    return {first_.buffer(), first_.count() * edges, first_.type(), is_written};
  }

 private:
  Moved first_;
};

template <class Count, class Place>
class BlocksByEdge {
 public:
  BlocksByEdge(const void* buffer, const Count* counts, const Place* places, MPI_Datatype type)
      : element_(buffer, 1, type), counts_(counts), places_(places) {}
  bool is_valid() const { return element_.type() != MPI_DATATYPE_NULL; }
  Moved operator()(int edge) const {
    return {static_cast<const std::byte*>(element_.block(places_[edge]).buffer()), counts_[edge],
            element_.type()};
  }
  OnHost for_mpi(int edges, bool is_written) const {
    std::int64_t end = 0;
    for (int edge = 0; edge < edges; ++edge) end = std::max<std::int64_t>(end, places_[edge] + counts_[edge]);
    return {element_.buffer(), end, element_.type(), is_written};
  }

 private:
  Moved element_;
  const Count* counts_;
  const Place* places_;
};

template <class Count>
class BlocksOfTypes {
 public:
  BlocksOfTypes(const void* buffer, const Count* counts, const MPI_Aint* places, const MPI_Datatype* types)
      : buffer_(static_cast<const std::byte*>(buffer)), counts_(counts), places_(places), types_(types) {}
  bool is_valid() const { return true; }  // what has no datatype has no bytes
  Moved operator()(int edge) const { return {buffer_ + places_[edge], counts_[edge], types_[edge]}; }
  OnHost for_mpi(int edges, bool is_written) const {
    MPI_Aint begin = 0, end = 0;
    for (int edge = 0; edge < edges && gpu::may_be_there; ++edge) {
      if (counts_[edge] <= 0 || types_[edge] == MPI_DATATYPE_NULL) continue;
      MPI_Aint lower = 0, extent = 0, true_lower = 0, true_extent = 0;
      PMPI_Type_get_extent(types_[edge], &lower, &extent);
      PMPI_Type_get_true_extent(types_[edge], &true_lower, &true_extent);
      const MPI_Aint first = places_[edge] + true_lower;
      const MPI_Aint behind = first + static_cast<MPI_Aint>(counts_[edge] - 1) * extent + true_extent;
      begin = begin == end ? first : std::min(begin, first);
      end = begin == end ? behind : std::max(end, behind);
    }
    return {buffer_, begin, static_cast<std::size_t>(end - begin), is_written};
  }

 private:
  const std::byte* buffer_;
  const Count* counts_;
  const MPI_Aint* places_;
  const MPI_Datatype* types_;
};

template <class Sent, class Received>
std::int64_t longest(const Neighbours& neighbours, const Sent& sent, const Received& received) {
  std::int64_t most = 0;
  for (std::size_t i = 0; i < neighbours.destinations.size(); ++i)
    if (neighbours.destinations[i] != MPI_PROC_NULL) most = std::max(most, sent(static_cast<int>(i)).bytes());
  for (std::size_t i = 0; i < neighbours.sources.size(); ++i)
    if (neighbours.sources[i] != MPI_PROC_NULL) most = std::max(most, received(static_cast<int>(i)).bytes());
  return most;
}

// Returns the topology of a communicator whose neighbourhood collectives may be served.
template <Call call>
Topology* topology_of(MPI_Comm comm) {
  static_assert(is_served(Hooked<call>::name));
  static const bool allowed = Settings::get().allows(Hooked<call>::name);
  Communicator* const known = allowed ? Communicator::find(comm) : nullptr;
  if (known == nullptr || !known->topology().neighbours()) {
    tally.count(call, allowed ? Way::communicator : Way::denied);
    return nullptr;
  }
  return &known->topology();
}

template <class Received>
Output output(const Neighbours& neighbours, const Received& received) {
  Output all;
  for (std::size_t i = 0; i < neighbours.sources.size(); ++i)
    if (neighbours.sources[i] != MPI_PROC_NULL) all.buffers.push_back(received(static_cast<int>(i)));
  return all;
}

// `pass` leaves the call to MPI, with other buffers where it cannot reach the program's.
template <Call call, class Sent, class Received, class Pass>
int serve_or_pass(MPI_Comm comm, const Sent& sent, const Received& received, const Pass& pass) {
  Topology* const topology = topology_of<call>(comm);
  Neighbours others;
  if (topology == nullptr && gpu::may_be_there) others = neighbours_of(comm).value_or(Neighbours());
  const Neighbours& neighbours = topology != nullptr ? *topology->neighbours() : others;
  const auto pass_on = [&] {
    OnHost from = sent.for_mpi(static_cast<int>(neighbours.destinations.size()), false);
    OnHost to = received.for_mpi(static_cast<int>(neighbours.sources.size()), true);
    return pass(from.for_mpi(), to.for_mpi());
  };
  if (topology == nullptr) return pass_on();
  Way way = Way::type;
  Neighbourhood* served = nullptr;
  if (sent.is_valid() && received.is_valid())
    served = topology->find(
        with_small_counts(call), [&] { return longest(neighbours, sent, received); }, way);
  tally.count(call, way);
  if (served == nullptr) return pass_on();
  try {
    const auto exchange = [&] { return served->exchange(order_of(call), sent, received); };
    if (Settings::get().check) [[unlikely]]
      return compare<call>(output(neighbours, received), exchange, pass_on);
    const int code = exchange();
    if (code != MPI_SUCCESS) PMPI_Comm_call_errhandler(comm, code);
    return code;
  } catch (const std::exception& error) {
    return fail(comm, error);
  }
}

template <Call call, class Count>
int allgather(const void* from, Count count, MPI_Datatype type, void* to, Count to_count,
              MPI_Datatype to_type, MPI_Comm comm) {
  return serve_or_pass<call>(comm, SameBlock(from, count, type), BlocksInARow(to, to_count, to_type),
                             [&](const void* read, void* written) {
                               return next<call>()(read, count, type, written, to_count, to_type, comm);
                             });
}

template <Call call, class Count, class Place>
int allgatherv(const void* from, Count count, MPI_Datatype type, void* to, const Count* to_counts,
               const Place* places, MPI_Datatype to_type, MPI_Comm comm) {
  return serve_or_pass<call>(comm, SameBlock(from, count, type), BlocksByEdge(to, to_counts, places, to_type),
                             [&](const void* read, void* written) {
                               return next<call>()(read, count, type, written, to_counts, places, to_type,
                                                   comm);
                             });
}

template <Call call, class Count>
int alltoall(const void* from, Count count, MPI_Datatype type, void* to, Count to_count, MPI_Datatype to_type,
             MPI_Comm comm) {
  return serve_or_pass<call>(comm, BlocksInARow(from, count, type), BlocksInARow(to, to_count, to_type),
                             [&](const void* read, void* written) {
                               return next<call>()(read, count, type, written, to_count, to_type, comm);
                             });
}

template <Call call, class Count, class Place>
int alltoallv(const void* from, const Count* counts, const Place* places, MPI_Datatype type, void* to,
              const Count* to_counts, const Place* to_places, MPI_Datatype to_type, MPI_Comm comm) {
  return serve_or_pass<call>(
      comm, BlocksByEdge(from, counts, places, type), BlocksByEdge(to, to_counts, to_places, to_type),
      [&](const void* read, void* written) {
        return next<call>()(read, counts, places, type, written, to_counts, to_places, to_type, comm);
      });
}

template <Call call, class Count>
int alltoallw(const void* from, const Count* counts, const MPI_Aint* places, const MPI_Datatype* types,
              void* to, const Count* to_counts, const MPI_Aint* to_places, const MPI_Datatype* to_types,
              MPI_Comm comm) {
  return serve_or_pass<call>(
      comm, BlocksOfTypes(from, counts, places, types), BlocksOfTypes(to, to_counts, to_places, to_types),
      [&](const void* read, void* written) {
        return next<call>()(read, counts, places, types, written, to_counts, to_places, to_types, comm);
      });
}

}  // namespace

#define TCA_SERVES(Count, Place, c)                                                                          \
  int Served<Call::Neighbor_allgather##c>::serve(const void* from, Count count, MPI_Datatype type, void* to, \
                                                 Count to_count, MPI_Datatype to_type, MPI_Comm comm) {      \
    return allgather<Call::Neighbor_allgather##c>(from, count, type, to, to_count, to_type, comm);           \
  }                                                                                                          \
  int Served<Call::Neighbor_allgatherv##c>::serve(const void* from, Count count, MPI_Datatype type,          \
                                                  void* to, const Count* to_counts, const Place* places,     \
                                                  MPI_Datatype to_type, MPI_Comm comm) {                     \
    return allgatherv<Call::Neighbor_allgatherv##c>(from, count, type, to, to_counts, places, to_type,       \
                                                    comm);                                                   \
  }                                                                                                          \
  int Served<Call::Neighbor_alltoall##c>::serve(const void* from, Count count, MPI_Datatype type, void* to,  \
                                                Count to_count, MPI_Datatype to_type, MPI_Comm comm) {       \
    return alltoall<Call::Neighbor_alltoall##c>(from, count, type, to, to_count, to_type, comm);             \
  }                                                                                                          \
  int Served<Call::Neighbor_alltoallv##c>::serve(                                                            \
      const void* from, const Count* counts, const Place* places, MPI_Datatype type, void* to,               \
      const Count* to_counts, const Place* to_places, MPI_Datatype to_type, MPI_Comm comm) {                 \
    return alltoallv<Call::Neighbor_alltoallv##c>(from, counts, places, type, to, to_counts, to_places,      \
                                                  to_type, comm);                                            \
  }                                                                                                          \
  int Served<Call::Neighbor_alltoallw##c>::serve(                                                            \
      const void* from, const Count* counts, const MPI_Aint* places, const MPI_Datatype* types, void* to,    \
      const Count* to_counts, const MPI_Aint* to_places, const MPI_Datatype* to_types, MPI_Comm comm) {      \
    return alltoallw<Call::Neighbor_alltoallw##c>(from, counts, places, types, to, to_counts, to_places,     \
                                                  to_types, comm);                                           \
  }
TCA_FOR_COUNTS_AND_PLACES(TCA_SERVES)

}  // namespace tca::interposer
