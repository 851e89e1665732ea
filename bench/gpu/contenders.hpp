// One way of doing what a benchmark of GPUs measures. All contenders run in turn in the same job, on the same
// GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coll_values.hpp"
#include "gpu/grid.hpp"
#include "tca/stream.hpp"

namespace tca::bench::gpu {

// What a graph captures; whoever is started by one runs a multiple of it.
inline constexpr int steps_a_graph = 20;

struct Contender : bench::Contender {
  std::string start;  // who starts it: kernel, graph, host, engine
  std::string scope;  // of a kernel that runs a chain: "parts" (BlockChain) or "grid" (GridChain)
  Grid grid;          // of such a kernel
  int granule = 1;    // steps are run by multiples of it
  int lead = 20;  // steps before the clock starts: they bring the ranks together and hide a launch's delay
  int steps_a_sample = 0;  // once measured

  // Puts `steps` steps, each of which needs the one before, on a stream, or makes them at once.
  virtual void run(int steps, Stream stream) = 0;

  // Collective. Runs a few steps on values of this `round`, and counts what came wrong to this rank.
  virtual std::uint64_t wrong(World& world, Stream stream, unsigned round) = 0;
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

// From rank 0 to rank 1, and back when it is answered. Device memory.
struct Messages : Contender {
  Messages(const Rows& layout, bool is_answered) : rows(layout), answered(is_answered) {}
  std::uint64_t wrong(World& world, Stream stream, unsigned round) override;

  Rows rows;
  bool answered;
  std::byte *out = nullptr, *in = nullptr;
};

// Both faces of this rank's cube to both neighbours of a ring.
struct Faces : Contender {
  Faces(const World& world, const Face& which)
      : face(which),
        rank(world.rank()),
        left((rank + world.size() - 1) % world.size()),
        right((rank + 1) % world.size()) {}
  std::uint64_t wrong(World& world, Stream stream, unsigned round) override;

  Face face;
  int rank, left, right;
  double* cube = nullptr;
};

// Sums over all ranks; each step sums what the one before has given.
struct Sums : Contender {
  explicit Sums(std::size_t values) : count(values) {}
  std::uint64_t wrong(World& world, Stream stream, unsigned round) override;
  // Where the values are after so many steps of one run; they begin at result(0).
  virtual double* result(int steps_run) = 0;

  std::size_t count;
};

// A collective of all ranks, from one buffer to another; of broadcasts there are two a step, see bench::Coll.
struct Blocks : Contender {
  Blocks(const World& world, const CollTask& which) : what(which.what), values(world, which) {}
  std::uint64_t wrong(World& world, Stream stream, unsigned round) override;

  std::string what;
  CollValues values;
  std::byte *in = nullptr, *out = nullptr;
};

// How OpenTCA itself is run.
struct Way {
  std::string start, scope, route;
  bool guarded = true;
  Grid grid;
  std::string fabric = "cuda";
};

// Collective.
std::unique_ptr<Contender> chain_ping_pong(World& world, const Rows& rows, const Way& way);
std::unique_ptr<Contender> chain_put(World& world, const Rows& rows, const Way& way);
std::unique_ptr<Contender> chain_faces(World& world, const Face& face, const Way& way);
std::unique_ptr<Contender> team_sums(World& world, std::size_t count, const Way& way);
std::unique_ptr<Contender> coll_sums(World& world, std::size_t count, const std::string& algorithm,
                                     const Way& way);
std::unique_ptr<Contender> coll_blocks(World& world, const CollTask& task, const Way& way);

// Somebody else's library, as its own documentation has it used for each pattern; an empty list where it has
// no way.
struct Peer {
  virtual ~Peer() = default;
  std::string name, version;

  // Collective.
  virtual Contenders ping_pong(const Rows&) { return {}; }
  virtual Contenders put(const Rows&) { return {}; }
  virtual Contenders faces(const Face&) { return {}; }
  virtual Contenders sums(std::size_t) { return {}; }
  virtual Contenders blocks(const CollTask&) { return {}; }
};

// Whether this build can hold OpenTCA against a peer: "nccl", "nvshmem", "mscclpp", "mpi" or "copy".
bool has_peer(const std::string& name);

// Collective. Throws Error{device_failed} or Error{incompatible} when the peer does not come up. The world
// outlives it.
std::unique_ptr<Peer> open_peer(const std::string& name, World& world);

}  // namespace tca::bench::gpu
