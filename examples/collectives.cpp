// Collectives on a matrix of which every rank has a row: they transpose it, add up its columns, and find its
// largest element by an operation of the program's own. Runs with any number of ranks.
//
//   tca run -n 4 -- ./collectives
#include <cstdio>
#include <cstdlib>

#include "tca/tca.hpp"

static void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

static long element(int step, int row, int column) { return (1 + step + 37L * row + 101L * column) % 97; }

// The type that the program's own operation works on. Any struct that may be copied as bytes will do.
struct Found {
  long value;
  int row, column;
};

int main() try {
  auto world = tca::World::init();
  const int me = world.rank(), size = world.size();
  auto row = world.window<long>(size);     // my row of the matrix
  auto column = world.window<long>(size);  // my column, once the matrix has been transposed
  auto sum = world.window<long>(1);        // of my column

  // Every rank sets all collectives up once, in the same order. These two go from one window to another. A
  // block is one element, and a rank's row has a block for each rank.
  tca::AllToAll<long> turn(world, "turn", row, column, 1);
  tca::ReduceScatter<long> add_columns(world, "add columns", row, sum, 1);

  // This one has memory of its own. A rank writes its block at the place where every rank will find it.
  tca::AllGather<long> sums(world, "sums", 1);

  // The operation combines two values and must be associative. The value of the lower rank is on the left, so
  // of equal elements every rank finds the one with the lowest row.
  const auto larger = [](Found left, Found right) { return right.value > left.value ? right : left; };
  tca::AllReduce<Found> largest(world, "largest", 1, larger);

  for (int step = 0; step < 100; ++step) {
    Found mine{element(step, me, 0), me, 0};
    for (int c = 0; c < size; ++c) {
      row[c] = element(step, me, c);
      mine = larger(mine, {row[c], me, c});
    }

    turn.start();  // both read the row while under way; every rank waits for them in the same order
    add_columns.start();
    turn.wait();
    add_columns.wait();
    sums.from()[me] = sum[0];
    sums.run();                                // start() and wait() in one call
    const Found found = largest.reduce(mine);  // the same for a value

    Found expected{element(step, 0, 0), 0, 0};
    for (int r = 0; r < size; ++r) {
      long column_sum = 0;
      for (int c = 0; c < size; ++c) {
        column_sum += element(step, c, r);  // of column r
        expected = larger(expected, {element(step, r, c), r, c});
      }
      check(column[r] == element(step, r, me), "turn");
      check(sums.to()[r] == column_sum, "sums");
    }
    check(found.value == expected.value && found.row == expected.row && found.column == expected.column,
          "largest");
  }
  if (me == 0) std::printf("%d ranks: turned round, added up and found\n", size);
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
