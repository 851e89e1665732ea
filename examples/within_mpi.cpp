// A program that uses MPI itself and leaves one exchange and one sum to OpenTCA: heat in a rod, distributed
// over all ranks.
//
//   mpirun -n 4 ./within_mpi [CELLS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tca/mpi.hpp"  // includes mpi.h
#include "tca/tca.hpp"

// Runs until a step changes no cell of the rod by more than 1e-6. Returns the number of steps.
static int cool(tca::World& world, long length) {
  const int me = world.rank(), last = world.size() - 1;
  // Divides the cells among the ranks. If they do not divide evenly, the first ranks have one more.
  const tca::Grid grid(world.size(), {0});
  const auto cells_of = [&](int rank) { return grid.part(rank, 0, length).size; };
  const long cells = cells_of(me);
  // The rank's cells, with a ghost cell at each end, whose value is fixed at the ends of the rod.
  auto rod = world.window<double>(cells + 2);
  if (me == 0) rod[0] = 100;

  auto ends = world.chain("ends");
  if (me > 0) ends.put(rod.on(me - 1).at(cells_of(me - 1) + 1), rod.at(1), tca::block(1)).expect(me - 1);
  if (me < last) ends.put(rod.on(me + 1).at(0), rod.at(cells), tca::block(1)).expect(me + 1);
  ends.commit();
  tca::AllReduce<double> largest(world, "largest change", 1, tca::ReduceOp::max);

  std::vector<double> next(static_cast<std::size_t>(cells + 2));
  for (int step = 1;; ++step) {
    ends.run();
    double change = 0;
    for (long i = 1; i <= cells; ++i) {
      next[i] = 0.5 * rod[i] + 0.25 * (rod[i - 1] + rod[i + 1]);
      change = tca::Max()(change, std::fabs(next[i] - rod[i]));  // unlike std::fmax it keeps a NaN
    }
    for (long i = 1; i <= cells; ++i) rod[i] = next[i];
    if (largest.reduce(change) < 1e-6) return step;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    // This world's messages never meet the program's own, and the world is gone before MPI_Finalize.
    auto world = tca::World::from_mpi(MPI_COMM_WORLD);
    const int cells = argc > 1 ? std::atoi(argv[1]) : 48;
    const int steps = cool(world, std::max(cells, world.size()));  // at least a cell for each rank

    int most = 0;
    MPI_Allreduce(&steps, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (world.rank() == 0) std::printf("cool after %d steps on %s\n", most, world.describe().c_str());
    code = steps == most ? 0 : 1;
  } catch (const tca::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.exit_code());  // MPI_Finalize might wait for ever for a lost rank
  }
  MPI_Finalize();
  return code;
}
