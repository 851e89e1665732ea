// A walk through chains: every rank writes parts of a matrix into its right neighbour's memory, with every
// layout that chains have. Runs with any number of ranks; alone, a rank is its own neighbour.
//
//   tca run -n 3 -- ./chains
#include <array>
#include <cstdio>
#include <cstdlib>

#include "tca/tca.hpp"

static constexpr int rows = 6, columns = 8;

static void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

int main() try {
  auto world = tca::World::init();
  const int me = world.rank(), size = world.size();
  const int right = (me + 1) % size, left = (me + size - 1) % size;

  // A window is memory that all ranks register together: here a matrix to send from, and room for arrivals.
  auto matrix = world.window<int>(rows * columns);
  auto inbox = world.window<int>(6 * rows * columns);
  for (int i = 0; i < rows * columns; ++i) matrix[i] = 1000 * me + i;
  const auto room = [&](int which) { return which * rows * columns; };
  const auto from_left = [&](int row, int column) { return 1000 * left + row * columns + column; };

  // A chain of six puts. The layout of each says which elements it moves, so nothing is packed by hand.
  auto chain = world.chain("all layouts");
  const auto to = [&](int which) { return inbox.on(right).at(room(which)); };
  chain.put(to(0), matrix.at(2 * columns), tca::block(columns));        // row 2
  chain.put(to(1), matrix.at(1), tca::block_stride(rows, 3, columns));  // columns 1 to 3
  chain.put(to(2), matrix.at(5), tca::stride(rows, columns));           // column 5, one element a row
  chain.put(to(3), tca::block(rows), matrix.at(5), tca::stride(rows, columns));  // column 5, gathered
  chain.put(to(4), tca::stride(columns, 2), matrix.at(0), tca::block(columns));  // row 0, scattered
  chain.put(to(5), tca::subarray({2, 3}, {0, 0}, {2, 3}), matrix.at(0),          // a 2 x 3 box at (3, 4) ...
            tca::subarray({rows, columns}, {3, 4}, {2, 3}));                     // ... as an array of its own
  chain.expect(left);  // a rank that writes to me must be expected
  chain.commit();      // collective: checks, chooses a channel for each put, compiles
  if (me == 0) std::printf("%s", chain.explain().c_str());

  chain.start();  // as often as needed; a program would compute between start and wait
  chain.wait();
  for (int c = 0; c < columns; ++c) check(inbox[room(0) + c] == from_left(2, c), "block");
  for (int r = 0; r < rows; ++r) {
    check(inbox[room(1) + r * columns + 2] == from_left(r, 3), "block_stride");
    check(inbox[room(2) + r * columns] == from_left(r, 5), "stride");
    check(inbox[room(3) + r] == from_left(r, 5), "gather");
  }
  for (int c = 0; c < columns; ++c) check(inbox[room(4) + 2 * c] == from_left(0, c), "scatter");
  check(inbox[room(5) + 5] == from_left(4, 6), "subarray");

  // An immediate put takes its value now, up to a cache line. It has arrived when my next signal to that rank
  // has.
  auto mail = world.window<std::array<int, 4>>(1);
  auto ring = world.chain("ring the bell");
  ring.signal(right).expect(left);
  ring.commit();
  mail.on(right).at(0).put({me, 1, 2, 3});
  ring.start();
  ring.wait();
  check(mail[0][0] == left && mail[0][3] == 3, "immediate put");

  // A chain is guarded: a put lands only once the target has started the same step, which says that it is
  // done with the last one. Two chains that take turns can do without this and save its signal if all three
  // conditions hold ("Guarded or not" in docs/guide.md):
  // - Each chain has target arrays of its own.
  // - In both chains every two partners send to each other, so that no rank comes back to an array before its
  //   partner has answered from the next one.
  // - What has come with one chain is read before the next start of either.
  // Element 0 is mine, 1 is my left neighbour's, 2 my right neighbour's.
  std::array buffers{world.window<int>(3), world.window<int>(3)};
  std::array turns{world.chain("even", {.guarded = false}), world.chain("odd", {.guarded = false})};
  for (int b = 0; b < 2; ++b) {
    turns[b].put(buffers[b].on(right).at(1), buffers[b].at(0), tca::block(1)).expect(left);
    turns[b].put(buffers[b].on(left).at(2), buffers[b].at(0), tca::block(1)).expect(right);
    turns[b].commit();
  }
  for (int step = 0; step < 1000; ++step) {
    auto& buffer = buffers[step % 2];
    buffer[0] = step * size + me;
    turns[step % 2].start();
    turns[step % 2].wait();
    // Read here, before the next start of either chain.
    check(buffer[1] == step * size + left && buffer[2] == step * size + right, "unguarded");
  }
  if (me == 0) std::printf("%d ranks: everything arrived\n", size);
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
