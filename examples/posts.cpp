// Posts and notices: rank 0 hands out work, piece by piece, to whoever asks for it. Nobody knows beforehand
// who will ask and when, so nothing here is committed together. Runs with any number of ranks; alone, rank 0
// has nobody to serve.
//
//   tca run -n 4 -- ./posts
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tca/tca.hpp"

static constexpr int pieces = 100;
static constexpr int ask = 0, answer = 1;  // slots of notices

static void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

// What a rank is told: the number of its next piece, or -1 for none.
using Piece = long;

static void hand_out(tca::World& world, const std::vector<tca::RegionToken>& tokens) {
  tca::Notices notices(world);
  std::vector<int> served(world.size());
  for (int next = 0, there = world.size() - 1; there > 0;) {
    for (int rank = 1; rank < world.size(); ++rank) {
      if (!notices.test({rank, ask, 0})) continue;
      const Piece piece = next < pieces ? next++ : -1;
      tca::Post post(world, "answer");
      post.put(tokens[rank], 0, std::span(&piece, 1), tca::block(1));  // read by `start`
      post.notify(rank, answer, 0);                                    // after the put
      post.run();
      piece < 0 ? --there : ++served[rank];
    }
  }
  int all = 0;
  for (const int count : served) all += count;
  check(all == pieces || world.size() == 1, "the number of pieces");
}

static void work(tca::World& world, const tca::Region& region) {
  tca::Notices notices(world);
  tca::Post post(world, "question");
  post.notify(0, ask, 0);
  for (Piece before = -1;;) {
    post.run();
    notices.wait({0, answer, 0});
    const Piece piece = *reinterpret_cast<const Piece*>(region.data());
    if (piece < 0) return;
    check(piece > before && piece < pieces, "a piece");
    before = piece;
  }
}

int main() try {
  auto world = tca::World::init();
  const auto region = tca::Region::on_host(world, sizeof(Piece));  // others learn of it by its token
  const std::vector<tca::RegionToken> tokens = world.all_gather(region.token());

  if (world.rank() == 0)
    hand_out(world, tokens);
  else
    work(world, region);

  world.barrier();
  if (world.rank() == 0) std::printf("%d ranks: right\n", world.size());
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
