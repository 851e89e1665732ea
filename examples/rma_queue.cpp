// A halo of lattice fields in the words of the paper that brought QUDA to PEACH2: windows, message handles, and queues of
// remote writes (rma_queue.hpp). A rank has 8^4 sites of a lattice that is cut along t, and along z where the number of
// ranks is even; a hop needs a half spinor of each site next door. As in QUDA, faces are packed into a buffer, and two
// queues take turns, so that the next hop may pack while ghosts are still read.
//
//   tca run -n 4 -- ./rma_queue
#include "rma_queue.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

static constexpr int extent = 8, sites_of_face = extent * extent * extent, numbers = 12;  // of a half spinor
static constexpr std::int64_t face_bytes = std::int64_t{sites_of_face} * numbers * sizeof(double);

using Face = std::vector<double>;

// The ranks next door: [dimension][forwards], where dimension 0 is z and 1 is t.
struct Neighbours {
  explicit Neighbours(const tca::World& world) {
    const int along_z = world.size() % 2 == 0 ? 2 : 1, along_t = world.size() / along_z;
    const int z = world.rank() % along_z, t = world.rank() / along_z;
    dimensions = along_z == 1 ? std::vector{1} : std::vector{0, 1};
    for (const int step : {0, 1}) {
      const int by = step == 0 ? -1 : 1;
      rank[0][step] = t * along_z + (z + by + along_z) % along_z;
      rank[1][step] = (t + by + along_t) % along_t * along_z + z;
    }
  }

  std::vector<int> dimensions;  // that are cut
  std::array<std::array<int, 2>, 2> rank{};
};

// What a rank sends that way in a hop: here numbers that tell whose they are; in a program, its spinors' projections.
static Face packed(int rank, int dimension, int forwards, int hop) {
  Face face(static_cast<std::size_t>(sites_of_face) * numbers);
  for (std::size_t i = 0; i < face.size(); ++i)
    face[i] = 1e6 * hop + 1e4 * (4 * rank + 2 * dimension + forwards) + static_cast<double>(i) / numbers;
  return face;
}

// Where a face lies in the window: those that are sent, then ghosts.
static std::int64_t sent(int dimension, int forwards) { return (2 * dimension + forwards) * face_bytes; }
static std::int64_t ghost(int dimension, int forwards) { return 4 * face_bytes + sent(dimension, forwards); }

static void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  std::exit(1);
}

class Exchange {
 public:
  Exchange(tca::World& world, const Neighbours& neighbours)
      : world_(world), neighbours_(neighbours), window_(world, 8 * face_bytes), queue_(window_) {
    for (const int dimension : neighbours.dimensions)
      for (const int forwards : {0, 1}) {
        // What goes forwards is the ghost behind its receiver.
        const int rank = neighbours.rank[dimension][forwards];
        queue_.push(
            rma::message(rank, ghost(dimension, 1 - forwards), sent(dimension, forwards), face_bytes));
        queue_.add_origin(rank);
      }
    queue_.commit();  // as in the paper, the expensive part, once
  }

  void start(int hop) {
    for (const int dimension : neighbours_.dimensions)
      for (const int forwards : {0, 1})
        window_.memory().write(
            sent(dimension, forwards),
            std::as_bytes(std::span<const double>(packed(world_.rank(), dimension, forwards, hop))));
    queue_.start();
  }

  // The interior would be computed before this, the sites at the faces after it.
  void finish(int hop) {
    queue_.wait();
    Face came(static_cast<std::size_t>(sites_of_face) * numbers);
    for (const int dimension : neighbours_.dimensions)
      for (const int forwards : {0, 1}) {
        window_.memory().read(ghost(dimension, forwards), std::as_writable_bytes(std::span(came)));
        check(came == packed(neighbours_.rank[dimension][forwards], dimension, 1 - forwards, hop), "a ghost");
      }
  }

 private:
  tca::World& world_;
  const Neighbours& neighbours_;
  rma::RmaWindow window_;
  rma::RmaQueue queue_;
};

int main() try {
  auto world = tca::World::init();
  const Neighbours neighbours(world);
  Exchange even(world, neighbours), odd(world, neighbours);
  constexpr int hops = 20;
  for (int hop = 0; hop < hops; ++hop) {
    Exchange& exchange = hop % 2 == 0 ? even : odd;
    exchange.start(hop);
    exchange.finish(hop);
  }
  if (world.rank() == 0) std::printf("%d ranks, %d hops: every ghost is right\n", world.size(), hops);
} catch (const tca::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
