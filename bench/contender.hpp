// A Contender is one way of doing what a benchmark measures: OpenTCA, a peer, or the hardware by hand. All
// contenders of a benchmark run in turn in the same job, so that a drift of the machine's speed affects them
// alike. Before each send of any of them every line of its source is written, and what arrives is read in full
// (touching.hpp); both belong to the time.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tca/world.hpp"

namespace tca::bench {

struct Contender {
  virtual ~Contender() = default;

  std::string fabric;    // carries the bytes
  std::string protocol;  // as chosen or forced
  std::string peer;      // empty for OpenTCA
  bool guarded = true;   // whether a rank that runs ahead waits for the reader
};

// A message from rank 0 to rank 1 and back; other ranks take no part.
struct PingPong : Contender {
  // Rank 0 sends and receives, then rank 1 the other way round, over and over; in between they write what they
  // send and read what has arrived. After both calls of a turn the message may be written anew.
  virtual void send() = 0;
  virtual void receive() = 0;
  // The message that this rank sends, and the other's as it has arrived here.
  virtual std::span<std::byte> sent() = 0;
  virtual std::span<const std::byte> arrived() const = 0;
};

// A face of a cube of n^3 doubles: `rows` runs of `run` elements, `pitch` elements apart. The next face
// inwards is `depth` elements away.
struct Face {
  std::string layout;
  std::size_t n = 0, rows = 0, run = 0, pitch = 0, depth = 0;

  static Face make(const std::string& layout, std::size_t n);
  std::size_t elements() const { return rows * run; }
  std::size_t bytes() const { return elements() * sizeof(double); }
  std::size_t cube() const { return n * n * n; }

  // The offsets of the first elements of the ghosts at both ends, and of the edges beside them, which fill
  // the neighbours' ghosts.
  std::size_t low_ghost() const { return 0; }
  std::size_t low_edge() const { return depth; }
  std::size_t high_edge() const { return depth * (n - 2); }
  std::size_t high_ghost() const { return depth * (n - 1); }
};

Layout layout_of(const Face& face);

// In a ring of ranks, each sends both edges of its cube to its two neighbours.
struct FaceExchange : Contender {
  virtual double* cube() = 0;
  virtual void exchange() = 0;
};

// A collective of all ranks between two buffers.
struct Coll : Contender {
  // Writes what this rank gives, with values of its own for each run, and reads the whole result.
  virtual void run() = 0;
  // Collective. Does one more run. Returns, alike on every rank, whether every rank has had the right result,
  // each time.
  virtual bool right(World& world) = 0;
  // The number of collectives in a run. A broadcast's root could run ahead of its leaves, so a run of "bcast"
  // is one broadcast from rank 0 and one from the last rank, and each waits for the one before.
  double collectives_a_run = 1;
};

// An exchange that a computation may hide: every rank puts to the next one in a ring.
struct Overlap : Contender {
  // What moves the exchange on during the computation: "none", "points" (calls at stated points) or "thread".
  std::string progress;
  std::size_t bytes = 0;
  virtual void start() = 0;
  // The computation calls this at each stated point.
  virtual void point() = 0;
  virtual void wait() = 0;
  virtual std::byte* sent() = 0;
  virtual const std::byte* arrived() const = 0;
};

// A step of any other kind: it writes what a rank sends, exchanges and reads what has arrived by itself.
struct Stepped : Contender {
  virtual void step() = 0;
  // Collective. Returns, alike on every rank, whether what has arrived is what was sent, each time.
  virtual bool right(World& world) = 0;
};

// The channel of OpenTCA's own chains.
struct Way {
  std::string fabric;
  std::string channel;  // forced protocol, or empty
  bool guarded = true;
  bool counted =
      false;  // the same bytes as a counted put; such a contender stands beside the others as a peer
};

struct OverlapTask {
  std::size_t bytes;
  std::string progress;
};

struct CollTask {
  std::string what;  // barrier, bcast, allgather, allreduce, reduce_scatter, alltoall
  // Bytes of a block, which one rank has for one other or for all. A block consists of doubles in collectives
  // that add up.
  std::size_t bytes = 0;
  std::string fabric;
  std::string algorithm;  // forced, or empty
  std::string channel;
  bool floats = false;  // in place of doubles; only peers on GPUs need them
};

// The factories are collective. Those for MPI need it to run (apps::MpiSession) while what they make lives,
// and return null when this was built without it.
std::unique_ptr<PingPong> chain_ping_pong(World& world, std::size_t bytes, const Way& way);
std::unique_ptr<PingPong> post_ping_pong(World& world, std::size_t bytes, const Way& way);
std::unique_ptr<PingPong> mpi_ping_pong(const World& world, std::size_t bytes);
std::unique_ptr<PingPong> hand_ping_pong(World& world, std::size_t bytes);

std::unique_ptr<FaceExchange> chain_faces(World& world, const Face& face, const Way& way);
std::unique_ptr<FaceExchange> mpi_faces(World& world, const Face& face);
// Three halo exchanges as one would write them by hand for this very case. "direct" leaves out the guard and
// is a lower bound: its ghosts could be overwritten while they are read.
std::unique_ptr<FaceExchange> hand_faces(World& world, const Face& face, const std::string& way);
// The same step without any exchange.
std::unique_ptr<FaceExchange> no_exchange(World& world, const Face& face);

std::unique_ptr<Overlap> chain_overlap(World& world, const OverlapTask& task, const Way& way);
// Uses persistent requests, and MPI_Testall at stated points.
std::unique_ptr<Overlap> mpi_overlap(World& world, const OverlapTask& task);

std::unique_ptr<Coll> chain_coll(World& world, const CollTask& task);
std::unique_ptr<Coll> mpi_coll(World& world, const CollTask& task);

}  // namespace tca::bench
