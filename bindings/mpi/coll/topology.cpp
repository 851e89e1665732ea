#include "mpi/coll/topology.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "mpi/session.hpp"
#include "tca/error.hpp"

namespace tca::interposer {

namespace {

Neighbours of_grid(MPI_Comm comm) {
  int dimensions = 0;
  PMPI_Cartdim_get(comm, &dimensions);
  Neighbours neighbours;
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int before = MPI_PROC_NULL, behind = MPI_PROC_NULL;
    PMPI_Cart_shift(comm, dimension, 1, &before, &behind);
    neighbours.sources.insert(neighbours.sources.end(), {before, behind});
  }
  neighbours.destinations = neighbours.sources;
  return neighbours;
}

Neighbours of_graph(MPI_Comm comm) {
  int rank = 0, number = 0;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Graph_neighbors_count(comm, rank, &number);
  std::vector<int> all(static_cast<std::size_t>(number));
  PMPI_Graph_neighbors(comm, rank, number, all.data());
  return {all, all};
}

Neighbours of_distributed_graph(MPI_Comm comm) {
  int sources = 0, destinations = 0, has_weights = 0;
  PMPI_Dist_graph_neighbors_count(comm, &sources, &destinations, &has_weights);
  Neighbours neighbours{std::vector<int>(static_cast<std::size_t>(sources)),
                        std::vector<int>(static_cast<std::size_t>(destinations))};
  std::vector<int> weights(static_cast<std::size_t>(sources)), others(static_cast<std::size_t>(destinations));
  PMPI_Dist_graph_neighbors(comm, sources, neighbours.sources.data(), weights.data(), destinations,
                            neighbours.destinations.data(), others.data());
  return neighbours;
}

bool is_of_one_host(const World& world) {
  const std::vector<int> hosts = world.sub_cluster_of_ranks();
  return std::ranges::adjacent_find(hosts, std::not_equal_to()) == hosts.end();
}

}  // namespace

std::optional<Neighbours> neighbours_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) return of_grid(comm);
  if (kind == MPI_GRAPH) return of_graph(comm);
  if (kind == MPI_DIST_GRAPH) return of_distributed_graph(comm);
  return {};
}

Topology::Topology(Communicator& communicator)
    : communicator_(communicator), neighbours_(neighbours_of(communicator.handle())) {}

Way Topology::decide(std::int64_t longest) {
  PMPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_INT64_T, MPI_MAX, communicator_.handle());
  if (longest > Neighbourhood::longest) return Way::size;
  return have_neighbourhood() ? Way::served : Way::communicator;
}

bool Topology::have_neighbourhood() {
  if (neighbourhood_ || failed_) return !failed_;
  World* const world = communicator_.world();
  failed_ = world == nullptr || !is_of_one_host(*world);
  if (failed_) return false;
  std::string trouble;
  try {
    neighbourhood_ =
        std::make_unique<Neighbourhood>(*world, communicator_.handle(), communicator_.own(), *neighbours_);
  } catch (const Error& error) {
    trouble = error.what();
  }
  failed_ = !communicator_.all_agree(neighbourhood_ != nullptr);
  if (failed_ && !trouble.empty() && communicator_.rank() == 0) Session::get().say(trouble);
  return !failed_;
}

}  // namespace tca::interposer
