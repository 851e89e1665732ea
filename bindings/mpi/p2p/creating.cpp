#include "mpi/p2p/channel.hpp"
#include "mpi/p2p/serve.hpp"

namespace tca::interposer {

namespace {

template <Call call, class... Arguments>
int make(MPI_Comm parent, MPI_Comm* made, Arguments... arguments) {
  const int code = next<call>()(arguments...);
  if (code == MPI_SUCCESS && Channel::engine() != nullptr) Channel::adopt(parent, *made);
  return code;
}

}  // namespace

int Served<Call::Comm_dup>::serve(MPI_Comm comm, MPI_Comm* made) {
  return make<Call::Comm_dup>(comm, made, comm, made);
}

int Served<Call::Comm_split>::serve(MPI_Comm comm, int color, int key, MPI_Comm* made) {
  return make<Call::Comm_split>(comm, made, comm, color, key, made);
}

int Served<Call::Comm_create>::serve(MPI_Comm comm, MPI_Group group, MPI_Comm* made) {
  return make<Call::Comm_create>(comm, made, comm, group, made);
}

int Served<Call::Cart_create>::serve(MPI_Comm comm, int dimensions, const int* extents,
                                     const int* are_periodic, int may_reorder, MPI_Comm* made) {
  return make<Call::Cart_create>(comm, made, comm, dimensions, extents, are_periodic, may_reorder, made);
}

int Served<Call::Cart_sub>::serve(MPI_Comm comm, const int* are_kept, MPI_Comm* made) {
  return make<Call::Cart_sub>(comm, made, comm, are_kept, made);
}

}  // namespace tca::interposer
