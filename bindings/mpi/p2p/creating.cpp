#include <tuple>

#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/serve.hpp"

namespace tca::interposer {

namespace {

template <Call call, class... Arguments>
int make(MPI_Comm parent, Arguments... arguments) {
  const int code = next<call>()(parent, arguments...);
  MPI_Comm* const made = std::get<sizeof...(arguments) - 1>(std::tuple(arguments...));
  if (code == MPI_SUCCESS && Channel::engine() != nullptr) Channel::adopt(parent, *made);
  return code;
}

}  // namespace

int Served<Call::Comm_dup>::serve(MPI_Comm comm, MPI_Comm* made) { return make<Call::Comm_dup>(comm, made); }

int Served<Call::Comm_dup_with_info>::serve(MPI_Comm comm, MPI_Info info, MPI_Comm* made) {
  return make<Call::Comm_dup_with_info>(comm, info, made);
}

int Served<Call::Comm_split>::serve(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return make<Call::Comm_split>(comm, color, key, made);
}

int Served<Call::Comm_split_type>::serve(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return make<Call::Comm_split_type>(comm, type, key, info, made);
}

int Served<Call::Comm_create>::serve(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return make<Call::Comm_create>(comm, group, made);
}

int Served<Call::Comm_create_group>::serve(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm* made) {
  return make<Call::Comm_create_group>(comm, group, tag, made);
}

int Served<Call::Cart_create>::serve(MPI_Comm comm, int dimensions, const int* extents,
                                     const int* are_periodic, int may_reorder, MPI_Comm* made) {
  return make<Call::Cart_create>(comm, dimensions, extents, are_periodic, may_reorder, made);
}

int Served<Call::Cart_sub>::serve(MPI_Comm comm, const int* are_kept, MPI_Comm* made) {
  return make<Call::Cart_sub>(comm, are_kept, made);
}

int Served<Call::Graph_create>::serve(MPI_Comm comm, int nodes, const int* indices, const int* edges,
                                      int may_reorder, MPI_Comm* made) {
  return make<Call::Graph_create>(comm, nodes, indices, edges, may_reorder, made);
}

int Served<Call::Dist_graph_create>::serve(MPI_Comm comm, int sources, const int* source, const int* degrees,
                                           const int* targets, const int* weights, MPI_Info info,
                                           int may_reorder, MPI_Comm* made) {
  return make<Call::Dist_graph_create>(comm, sources, source, degrees, targets, weights, info, may_reorder,
                                       made);
}

int Served<Call::Dist_graph_create_adjacent>::serve(MPI_Comm comm, int sources, const int* source,
                                                    const int* source_weights, int targets, const int* target,
                                                    const int* target_weights, MPI_Info info, int may_reorder,
                                                    MPI_Comm* made) {
  return make<Call::Dist_graph_create_adjacent>(comm, sources, source, source_weights, targets, target,
                                                target_weights, info, may_reorder, made);
}

}  // namespace tca::interposer
