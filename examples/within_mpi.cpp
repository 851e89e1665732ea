// A program with an MPI of its own, of which one exchange and one sum go by OpenTCA: heat in a rod, dealt out over all ranks.
//
//   mpirun -n 4 ./within_mpi [CELLS]
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tca/mpi.hpp"  // brings mpi.h
#include "tca/tca.hpp"

// Until a step changes no cell of the rod by more than 1e-6; returns how many steps that took.
static int cool(tca::World& world, long length) {
  const int me = world.rank(), last = world.size() - 1;
  const tca::Grid grid(world.size(), {0});  // deals out; where it does not divide the first have one more
  const auto cells_of = [&](int rank) { return grid.part(rank, 0, length).size; };
  const long cells = cells_of(me);
  auto rod = world.window<double>(cells + 2);  // with a ghost at each end, which is fixed where the rod ends
  if (me == 0) rod[0] = 100;

  auto ends = world.chain("ends");
  if (me > 0) ends.put(rod.on(me - 1).at(cells_of(me - 1) + 1), rod.at(1), tca::block(1)).expect(me - 1);
  if (me < last) ends.put(rod.on(me + 1).at(0), rod.at(cells), tca::block(1)).expect(me + 1);
  ends.commit();
  tca::AllReduce<double> largest(world, "largest change", 1, tca::Op::max);

  std::vector<double> next(static_cast<std::size_t>(cells + 2));
  for (int step = 1;; ++step) {
    ends.run();
    double change = 0;
    for (long i = 1; i <= cells; ++i) {
      next[i] = 0.5 * rod[i] + 0.25 * (rod[i - 1] + rod[i + 1]);
      change = std::fmax(change, std::fabs(next[i] - rod[i]));
    }
    for (long i = 1; i <= cells; ++i) rod[i] = next[i];
    if (largest.reduce(change) < 1e-6) return step;
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    // Its messages never meet the program's own, and it is gone before MPI_Finalize.
    auto world = tca::World::from_mpi(MPI_COMM_WORLD);
    const int cells = argc > 1 ? std::atoi(argv[1]) : 48;
    const int steps = cool(world, std::max(cells, world.size()));  // a cell a rank at least

    int most = 0;
    MPI_Allreduce(&steps, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (world.rank() == 0) std::printf("cool after %d steps on %s\n", most, world.describe().c_str());
    code = steps == most ? 0 : 1;
  } catch (const tca::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.exit_code());  // MPI_Finalize might wait for ever for a rank that is lost
  }
  MPI_Finalize();
  return code;
}
