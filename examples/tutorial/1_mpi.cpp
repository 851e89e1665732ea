// Step 1: heat in a plate over MPI, with persistent requests.
//
//   mpirun -n 4 ./1_mpi [cells along a side] [steps] [rows of ranks]
#include <mpi.h>

#include "heat.hpp"

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const heat::Arguments arguments(argc, argv);
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
  std::vector<double> u[] = {heat::first_state(part), heat::first_state(part)};

  MPI_Datatype row, column;
  MPI_Type_contiguous(static_cast<int>(part.columns), MPI_DOUBLE, &row);
  MPI_Type_vector(static_cast<int>(part.rows), 1, static_cast<int>(part.pitch()), MPI_DOUBLE, &column);
  MPI_Type_commit(&row);
  MPI_Type_commit(&column);
  const long last_row = part.rows, last_column = part.columns;
  MPI_Request exchange[2][8];
  for (int b = 0; b < 2; ++b) {
    const auto cell = [&](long i, long j) { return &u[b][static_cast<std::size_t>(part.at(i, j))]; };
    MPI_Send_init(cell(1, 1), 1, row, above, 0, grid, &exchange[b][0]);
    MPI_Send_init(cell(last_row, 1), 1, row, below, 0, grid, &exchange[b][1]);
    MPI_Send_init(cell(1, 1), 1, column, left, 0, grid, &exchange[b][2]);
    MPI_Send_init(cell(1, last_column), 1, column, right, 0, grid, &exchange[b][3]);
    MPI_Recv_init(cell(0, 1), 1, row, above, 0, grid, &exchange[b][4]);
    MPI_Recv_init(cell(last_row + 1, 1), 1, row, below, 0, grid, &exchange[b][5]);
    MPI_Recv_init(cell(1, 0), 1, column, left, 0, grid, &exchange[b][6]);
    MPI_Recv_init(cell(1, last_column + 1), 1, column, right, 0, grid, &exchange[b][7]);
  }

  heat::Clock clock;
  for (int s = 0; s < arguments.steps; ++s) {
    const int now = s % 2;
    MPI_Startall(8, exchange[now]);
    MPI_Waitall(8, exchange[now], MPI_STATUSES_IGNORE);
    heat::relax(part, u[now].data(), u[1 - now].data());
    clock.done(s);
  }

  int wrong = heat::wrong_cells(arguments, part, u[0].data());
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, grid);
  const int code = rank == 0 ? heat::report(arguments, ranks, wrong, clock) : 0;
  for (auto& requests : exchange) {
    for (MPI_Request& request : requests) MPI_Request_free(&request);
  }
  MPI_Type_free(&row);
  MPI_Type_free(&column);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return code;
}
