// Step 2: the same program, whose exchange is a chain.
//
//   mpirun -n 4 ./2_chain [cells along a side] [steps] [rows of ranks]
#include "heat.hpp"
#include "tca/mpi.hpp"  // includes mpi.h
#include "tca/tca.hpp"

static int run(const heat::Arguments& arguments) {
  int ranks, rank, shape[] = {arguments.rows_of_ranks, 0}, periodic[] = {0, 0}, place[2];
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, 2, shape);
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, shape, periodic, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, place);
  int above, below, left, right;  // MPI_PROC_NULL at the plate's edge
  MPI_Cart_shift(grid, 0, 1, &above, &below);
  MPI_Cart_shift(grid, 1, 1, &left, &right);

  // Two arrays take turns.
  const heat::Part part = heat::Part::of(arguments.n, shape, place);
  tca::World world = tca::World::from_mpi(grid);
  MPI_Comm_free(&grid);  // the world has a communicator of its own
  tca::Window<double> u[] = {world.window<double>(part.cells()), world.window<double>(part.cells())};
  for (auto& array : u) array.write(0, heat::first_state(part));

  const tca::Layout row = tca::block(part.columns), column = tca::stride(part.rows, part.pitch());
  const long last_row = part.rows, last_column = part.columns;
  tca::Chain exchange[] = {world.chain("even"), world.chain("odd")};
  for (int b = 0; b < 2; ++b) {
    // A neighbour's part is as large as this one, so its cells have the same numbers.
    const auto put = [&](int to, long i, long j, long from_i, long from_j, const tca::Layout& layout) {
      if (to == MPI_PROC_NULL) return;
      exchange[b].put(u[b].on(to).at(part.at(i, j)), u[b].at(part.at(from_i, from_j)), layout).expect(to);
    };
    put(above, last_row + 1, 1, 1, 1, row);
    put(below, 0, 1, last_row, 1, row);
    put(left, 1, last_column + 1, 1, 1, column);
    put(right, 1, 0, 1, last_column, column);
    exchange[b].commit();
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
  return rank == 0 ? heat::report(arguments, ranks, wrong, clock) : 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    code = run(heat::Arguments(argc, argv));
  } catch (const tca::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.exit_code());
  }
  MPI_Finalize();
  return code;
}
