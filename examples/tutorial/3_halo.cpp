// Step 3: the exchange is a halo, which knows neighbours, layouts and ghosts. MPI is not needed any more.
//
//   tca run -n 4 -- ./3_halo [cells along a side] [steps] [rows of ranks]      (or mpirun)
#include "heat.hpp"
#include "tca/tca.hpp"

int main(int argc, char** argv) try {
  const heat::Arguments arguments(argc, argv);
  tca::World world = tca::World::init();
  const tca::Grid grid(world.size(), {arguments.rows_of_ranks, 0}, {}, {arguments.n, arguments.n});
  const tca::Range rows = grid.part(world.rank(), 0, arguments.n);
  const tca::Range columns = grid.part(world.rank(), 1, arguments.n);

  // Two arrays take turns.
  const heat::Part part{rows.size, columns.size, rows.begin, columns.begin};
  tca::Halo exchange[] = {{world, "even", grid, {part.rows, part.columns}},
                          {world, "odd", grid, {part.rows, part.columns}}};
  tca::Window<double> u[] = {world.window<double>(part.cells()), world.window<double>(part.cells())};
  for (int b = 0; b < 2; ++b) {
    u[b].write(0, heat::first_state(part));
    exchange[b].add(u[b]).commit();
  }

  heat::Clock clock;
  for (int s = 0; s < arguments.steps; ++s) {
    const int now = s % 2;
    exchange[now].start();
    exchange[now].wait();
    heat::relax(part, u[now].data(), u[1 - now].data());
    clock.done(s);
  }

  int wrong = 0;
  for (const int cells : world.all_gather(heat::wrong_cells(arguments, part, u[0].data()))) wrong += cells;
  return world.rank() == 0 ? heat::report(arguments, world.size(), wrong, clock) : 0;
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
