// A world within MPI: each rank puts its number to the next one, over shared memory or MPI, as the world
// chooses.
#include "check.h"
#include "tca/tca_mpi.h"

static tca_status ring(tca_world* world) {
  int me, size, mpi_rank, have = -1;
  TRY(tca_world_rank(world, &me));
  TRY(tca_world_size(world, &size));
  MPI_Comm_rank(MPI_COMM_WORLD, &mpi_rank);
  REQUIRE(me == mpi_rank, "rank %d is MPI's rank %d", me, mpi_rank);
  tca_window* u;
  tca_chain* chain;
  tca_layout one;
  TRY(tca_layout_block(1, &one));
  TRY(tca_window_create(world, 2, sizeof(int), "u", &u));
  TRY(tca_chain_create(world, "ring", NULL, &chain));
  TRY(tca_chain_put(chain, tca_at(u, (me + 1) % size, 1), &one, tca_here(u, 0), NULL));
  TRY(tca_chain_expect(chain, (me + size - 1) % size));
  TRY(tca_chain_commit(chain));
  TRY(tca_window_write(u, 0, 1, &me));
  TRY(tca_chain_run(chain));
  TRY(tca_window_read(u, 1, 1, &have));
  REQUIRE(have == (me + size - 1) % size, "%d has arrived", have);
  TRY(tca_chain_free(chain));
  return tca_window_free(u);
}

static tca_status of_every_fabric(void) {
  const char* const fabrics[] = {NULL, "mpi", "shm+mpi"};
  for (int i = 0; i < 3; ++i) {
    tca_world_options options = TCA_WORLD_OPTIONS_INIT;
    options.fabric = fabrics[i];
    tca_world* world;
    TRY(tca_world_from_mpi(MPI_COMM_WORLD, &options, &world));
    TRY(ring(world));
    TRY(tca_world_free(world));
  }
  // As Fortran hands a communicator over.
  const MPI_Fint number = MPI_Comm_c2f(MPI_COMM_WORLD);
#if defined(OMPI_MAJOR_VERSION)
  const char* const mpi = "Open MPI in Fortran";
#else
  const char* const mpi = "MPICH in Fortran";
#endif
  tca_world* world;
  TRY(tca_world_from_mpi_handle(&number, sizeof number, mpi, NULL, &world));
  TRY(ring(world));
  TRY(tca_world_free(world));
  tca_world* none;
  EXPECT(tca_world_from_mpi_handle(&number, sizeof number, "another MPI in Fortran", NULL, &none),
         TCA_INCOMPATIBLE, "another MPI in Fortran");
  EXPECT(tca_world_from_mpi(MPI_COMM_NULL, NULL, &none), TCA_INVALID_ARGUMENT, "communicator");
  REQUIRE(none == NULL, "a handle is left");
  return TCA_OK;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const tca_status status = of_every_fabric();
  if (status != TCA_OK) MPI_Abort(MPI_COMM_WORLD, (int)status);
  MPI_Finalize();
  return 0;
}
