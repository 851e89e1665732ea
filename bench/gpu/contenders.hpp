// A Contender is one way of doing what a benchmark of GPUs measures. All contenders run in turn in the same
// job, on the same GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coll_values.hpp"
#include "gpu/grid.hpp"
#include "gpu/kernels/touch.hpp"
#include "tca/stream.hpp"

namespace tca::bench::gpu {

// Number of steps in a graph. A contender that is started by a graph runs a multiple of it.
inline constexpr int steps_a_graph = 20;

struct Contender : bench::Contender {
  std::string start;  // "kernel", "graph", "host" or "engine"
  // For a kernel that runs a chain: "parts" (BlockChain) or "grid" (GridChain).
  std::string scope;
  Grid grid;            // size of such a kernel
  std::string element;  // what is summed, where it is not doubles
  int granule = 1;      // steps are run in multiples of it
  // Steps before the clock starts. They bring the ranks together and hide the delay of a launch.
  int lead = 20;
  int steps_a_sample = 0;  // set by the measurement
  std::uint32_t steps_done = 0;
  // How often a step writes and reads, in kernels of its own one after the other, on its way over all ranks;
  // the time of as many calls of `touch` is no part of the exchange. 0 where the kernel that exchanges writes
  // and reads itself.
  int touches = 0;

  // Collective. Called once, before all others.
  virtual void prepare(World& /*world*/) {}

  // Puts `steps` steps on a stream, or runs them before it returns. Each step depends on the one before. In
  // each all that is sent is written before and all that has arrived is read after.
  virtual void run(int steps, Stream stream) = 0;

  // Writes and reads as `steps` steps do, without exchanging anything.
  virtual void touch(int /*steps*/, Stream /*stream*/) {}

  // Collective. Runs a few steps on values of this `round`, and returns how many values are wrong on this
  // rank.
  virtual std::uint64_t wrong(World& world, Stream stream, unsigned round) = 0;
};

using Contenders = std::vector<std::unique_ptr<Contender>>;

class Graph;

// A contender with values of their own for each step. Those ordered on streams call `write` and `read`, which
// put kernels on the stream; `read` comes once a step, and counts it.
struct Touching : Contender {
  Touching();
  ~Touching() override;
  void touch(int steps, Stream stream) final;
  virtual void write(cudaStream_t stream);
  virtual void read(cudaStream_t stream);

  Touched touched;

 protected:
  std::uint32_t* step() const { return step_.get(); }  // number of the step, on the GPU

 private:
  std::shared_ptr<std::uint32_t> step_;
  std::unique_ptr<Graph> bare_;
};

// A message in device memory from rank 0 to rank 1, and one back if it is answered; the answer has the values
// of the next step, since rank 1 has read before it writes.
struct Messages : Touching {
  Messages(const Rows& layout, bool is_answered) : rows(layout), answered(is_answered) {}
  void prepare(World& world) override;
  std::uint64_t wrong(World& world, Stream stream, unsigned round) override;

  Rows rows;
  bool answered;
  std::byte *out = nullptr, *in = nullptr;
};

// In a ring of ranks, each sends both edges of its cube to its two neighbours.
struct Faces : Touching {
  Faces(const World& world, const Face& which)
      : face(which),
        rank(world.rank()),
        left((rank + world.size() - 1) % world.size()),
        right((rank + 1) % world.size()) {}
  void prepare(World& world) override;
  std::uint64_t wrong(World& world, Stream stream, unsigned round) override;

  Face face;
  int rank, left, right;
  double* cube = nullptr;
};

// In a ring of ranks, each sends a block to the next one.
struct Ring : Touching {
  Ring(const World& world, std::size_t bytes)
      : block(Rows::block(bytes)), rank(world.rank()), left((rank + world.size() - 1) % world.size()) {
    touches = 1;
  }
  void prepare(World& world) override;
  std::uint64_t wrong(World& world, Stream stream, unsigned round) override;

  Rows block;
  int rank, left;
  std::byte *out = nullptr, *in = nullptr;
};

// An exchange of blocks in a ring that goes by while a GPU computes.
struct Passing : bench::Contender {
  explicit Passing(std::size_t of_a_block) : bytes(of_a_block) {}
  virtual void exchange(cudaStream_t stream) = 0;

  std::size_t bytes;
  std::string start;
  std::byte *out = nullptr, *in = nullptr;  // what goes to the next rank, and what comes from the one before
};

// Sums over all ranks, of doubles or floats. Each step sums the results of the one before, so every value is new and all are
// read.
template <class T>
struct SumsOf : Contender {
  explicit SumsOf(std::size_t values) : count(values) {}
  std::uint64_t wrong(World& world, Stream stream, unsigned round) override;
  // Returns where the values are after this many steps of one run; they begin at result(0).
  virtual T* result(int steps_run) = 0;

  std::size_t count;
};
using Sums = SumsOf<double>;

// A collective of all ranks from one buffer to another. A step of "bcast" is two broadcasts, see bench::Coll.
struct Blocks : Touching {
  Blocks(const World& world, const CollTask& which)
      : what(which.what), rank(world.rank()), last(world.size() - 1), values(world, which) {}
  void prepare(World& world) override;
  void write(cudaStream_t stream) override;
  void read(cudaStream_t stream) override;
  std::uint64_t wrong(World& world, Stream stream, unsigned round) override;

  std::string what;
  int rank, last;
  CollValues values;
  std::byte *in = nullptr, *out = nullptr;
};

// How OpenTCA's own contenders run.
struct Way {
  std::string start, scope, channel;
  bool guarded = true;
  Grid grid;
  std::string fabric = "cuda";
  // The same bytes as a counted put, or as a post; such a contender stands beside the others as a peer.
  bool counted = false, posted = false;
};

// The factories are collective.
std::unique_ptr<Contender> chain_ping_pong(World& world, const Rows& rows, const Way& way);
// Streams and graphs start posts, kernels do not.
std::unique_ptr<Contender> post_ping_pong(World& world, const Rows& rows, const Way& way);
std::unique_ptr<Contender> chain_put(World& world, const Rows& rows, const Way& way);
std::unique_ptr<Contender> chain_faces(World& world, const Face& face, const Way& way);
std::unique_ptr<Contender> team_sums(World& world, std::size_t count, const Way& way);
// Sums to which all blocks of a kernel bring a share, as all get the result: `how` is "grid", in one call, or
// "barriers", a sum by one block between two barriers.
std::unique_ptr<Contender> grid_sums(World& world, std::size_t count, const std::string& how, const Way& way);
std::unique_ptr<Contender> coll_sums(World& world, std::size_t count, const std::string& algorithm,
                                     const Way& way);
std::unique_ptr<Contender> coll_blocks(World& world, const CollTask& task, const Way& way);

// A library of others, used for each pattern as its own documentation recommends. A list is empty for a
// pattern that the library has no way to do.
struct Peer {
  virtual ~Peer() = default;
  std::string name, version;

  // Collective.
  virtual Contenders ping_pong(const Rows&) { return {}; }
  virtual Contenders put(const Rows&) { return {}; }
  virtual Contenders faces(const Face&) { return {}; }
  virtual Contenders sums(std::size_t) { return {}; }
  virtual Contenders blocks(const CollTask&) { return {}; }
  virtual std::vector<std::unique_ptr<Passing>> passing(std::size_t) { return {}; }
};

// Returns whether this build can compare OpenTCA with a peer: "nccl" by its ordinary calls, "nccl-windows" by the same on
// symmetric windows, "nccl-copy-engine" by those that need no kernel, "nccl-device" by its device API, "nvshmem", "mscclpp",
// "mpi", "copy" or "produced".
bool has_peer(const std::string& name);

// Collective. The world outlives the peer. Throws Error{device_failed} or Error{incompatible} when the peer
// does not come up.
std::unique_ptr<Peer> open_peer(const std::string& name, World& world);

}  // namespace tca::bench::gpu
