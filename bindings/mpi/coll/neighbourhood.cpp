#include "mpi/coll/neighbourhood.hpp"

#include <algorithm>
#include <compare>

#include "mpi/progress.hpp"
#include "tca/error.hpp"

namespace tca::interposer {

namespace {

constexpr std::int64_t capacity = Neighbourhood::longest + 1;
constexpr std::int64_t pitch = (capacity + 63) / 64 * 64;

// An edge by its source and its number there; of none where nothing comes.
struct Edge {
  int source = -1, number = -1;
  auto operator<=>(const Edge&) const = default;
};

// Asks MPI itself along which edge what arrives has come. Collective over `comm`.
std::vector<Edge> edges_by_mpi(MPI_Comm comm, const Neighbours& neighbours, EdgeOrder order) {
  std::vector<Edge> mine(neighbours.destinations.size()), come(neighbours.sources.size());
  mine.reserve(1);  // MPICH refuses null, though nothing be there
  come.reserve(1);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  for (std::size_t i = 0; i < mine.size(); ++i) mine[i] = {rank, static_cast<int>(i)};
  if (order == EdgeOrder::alltoall) {
    PMPI_Neighbor_alltoall(mine.data(), 2, MPI_INT, come.data(), 2, MPI_INT, comm);
    return come;
  }
  const std::vector<int> twos(std::max({mine.size(), come.size(), std::size_t{1}}), 2);
  if (order == EdgeOrder::alltoallw) {
    const std::vector<MPI_Datatype> types(twos.size(), MPI_INT);
    std::vector<MPI_Aint> places(twos.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<MPI_Aint>(i * sizeof(Edge));
    PMPI_Neighbor_alltoallw(mine.data(), twos.data(), places.data(), types.data(), come.data(), twos.data(),
                            places.data(), types.data(), comm);
    return come;
  }
  std::vector<int> begins(twos.size());
  for (std::size_t i = 0; i < begins.size(); ++i) begins[i] = static_cast<int>(2 * i);
  PMPI_Neighbor_alltoallv(mine.data(), twos.data(), begins.data(), MPI_INT, come.data(), twos.data(),
                          begins.data(), MPI_INT, comm);
  return come;
}

std::vector<Edge> sorted(std::vector<Edge> edges) {
  std::erase(edges, Edge());
  std::ranges::sort(edges);
  return edges;
}

// Tells each source at which place here its edge ends, and returns where those of this rank end. Collective over `own`.
std::vector<int> places_of(const std::vector<Edge>& come, const Neighbours& neighbours, MPI_Comm own) {
  const std::vector<int>& destinations = neighbours.destinations;
  std::vector<int> places(destinations.size(), -1);
  std::vector<MPI_Request> requests(destinations.size(), MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < destinations.size(); ++i)
    PMPI_Irecv(&places[i], 1, MPI_INT, destinations[i], static_cast<int>(i), own, &requests[i]);
  for (int place = 0; place < static_cast<int>(come.size()); ++place) {
    const Edge& edge = come[static_cast<std::size_t>(place)];
    PMPI_Send(&place, 1, MPI_INT, edge.source, edge.number, own);
  }
  PMPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return places;
}

#if MPI_VERSION >= 4
constexpr auto isend = PMPI_Isend_c;
constexpr auto recv = PMPI_Recv_c;
using MpiCount = MPI_Count;
#else
constexpr auto isend = PMPI_Isend;
constexpr auto recv = PMPI_Recv;
using MpiCount = int;
#endif

}  // namespace

Neighbourhood::Neighbourhood(World& world, MPI_Comm comm, MPI_Comm own, const Neighbours& neighbours)
    : own_(own),
      places_(world, pitch * (neighbours.sources.size() + neighbours.destinations.size()), 1,
              "MPI neighbours"),
      chain_(world.chain("MPI neighbours", {.time_limit = no_limit})) {
  auto* const first = static_cast<std::byte*>(places_.data());
  const std::array<std::vector<Edge>, edge_orders> by_order{
      edges_by_mpi(comm, neighbours, EdgeOrder::alltoall),
      edges_by_mpi(comm, neighbours, EdgeOrder::alltoallv),
      edges_by_mpi(comm, neighbours, EdgeOrder::alltoallw)};
  const std::vector<Edge> come = sorted(by_order[0]);
  // The n-th put of a source to this rank is that of its n-th edge, and the edges are sorted.
  for (const Edge& edge : come)
    receiving_.push_back({edge.source, edge.number,
                          first + pitch * static_cast<std::int64_t>(receiving_.size()),
                          chain_.expect_counted(edge.source)});
  for (std::size_t order = 0; order < by_order.size(); ++order)
    for (const Edge& edge : by_order[order]) {
      const auto found = std::ranges::find(come, edge);
      arrivals_[order].push_back(found == come.end() ? -1 : static_cast<int>(found - come.begin()));
    }
  const std::vector<int> places = places_of(come, neighbours, own);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    const int destination = neighbours.destinations[i];
    const auto from = pitch * static_cast<std::int64_t>(neighbours.sources.size() + i);
    sending_.push_back({destination, static_cast<int>(i), first + from,
                        chain_.put_counted(places_.on(destination).at(pitch * places[i]), places_.at(from),
                                           block(capacity))});
  }
  chain_.commit();
}

void Neighbourhood::run() { run_beside_mpi(chain_); }

void Neighbourhood::send(Sending& edge, const Moved& block) {
  edge.put.set(std::min(block.bytes(), capacity));
  if (block.bytes() <= longest) {
    block.read_into(edge.place);
    return;
  }
  OnHost& kept = kept_.emplace_back(block.buffer(), block.count(), block.type(), false);
  isend(kept.for_mpi(), static_cast<MpiCount>(block.count()), block.type(), edge.destination, edge.number,
        own_, &by_mpi_.emplace_back());
}

int Neighbourhood::receive(const Receiving& edge, const Moved& block) {
  const std::int64_t bytes = edge.arrival.count();
  if (bytes > longest) {
    OnHost buffer(block.buffer(), block.count(), block.type(), true);
    return recv(buffer.for_mpi(), static_cast<MpiCount>(block.count()), block.type(), edge.source,
                edge.number, own_, MPI_STATUS_IGNORE);
  }
  block.first(bytes).write_from(edge.place);
  return bytes <= block.bytes() ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

void Neighbourhood::finish_sends() {
  PMPI_Waitall(static_cast<int>(by_mpi_.size()), by_mpi_.data(), MPI_STATUSES_IGNORE);
  by_mpi_.clear();
  kept_.clear();
}

}  // namespace tca::interposer
