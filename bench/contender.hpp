// One way of doing what a benchmark measures: OpenTCA, a peer, or the hardware by hand. All contenders of a benchmark
// run in turn in the same job, so that a drift of the machine's speed meets them alike.
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

  std::string fabric;    // what carries the bytes
  std::string protocol;  // as chosen or forced
  std::string peer;      // empty for OpenTCA
  bool guarded = true;   // whether a rank that runs ahead waits for the reader
};

// A message there and back between ranks 0 and 1; other ranks take no part.
struct PingPong : Contender {
  // Rank 0: sends, and returns when it has read the answer. Rank 1: waits, reads and answers.
  virtual void round_trip(int rank) = 0;
  // The message that this rank sends, and what has arrived of the other's.
  virtual std::span<std::byte> sent() = 0;
  virtual std::span<const std::byte> arrived() const = 0;
};

// A face of a cube of n^3 doubles: `rows` runs of `run` elements, `pitch` apart; `depth` elements from one such face
// to the next one inwards.
struct Face {
  std::string layout;
  std::size_t n = 0, rows = 0, run = 0, pitch = 0, depth = 0;

  static Face make(const std::string& layout, std::size_t n);
  std::size_t elements() const { return rows * run; }
  std::size_t bytes() const { return elements() * sizeof(double); }
  std::size_t cube() const { return n * n * n; }

  // Offsets of the first elements: ghosts at both ends, the edges that fill the neighbours' ghosts beside them.
  std::size_t low_ghost() const { return 0; }
  std::size_t low_edge() const { return depth; }
  std::size_t high_edge() const { return depth * (n - 2); }
  std::size_t high_ghost() const { return depth * (n - 1); }
};

Layout layout_of(const Face& face);

// Both faces of this rank's cube to both neighbours of a ring.
struct FaceExchange : Contender {
  virtual double* cube() = 0;
  virtual void exchange() = 0;
};

// A collective of all ranks, between two buffers that only it touches, and the reading of its result.
struct Coll : Contender {
  virtual void run() = 0;
  // Whether one run more, of values that none before has had, gives every rank what it must. Collective; on every rank alike.
  virtual bool right(World& world) = 0;
  // How many collectives a run is. A broadcast's root runs ahead of its leaves, so rank 0's are followed by others of
  // the last rank: each then waits for the one before.
  double collectives_a_run = 1;
};

// One put or two of every rank to its partner, and what the partner puts back, between the writing of what is sent and the reading
// of what arrives.
struct PutExchange : Contender {
  virtual void step() = 0;
  // Whether what arrived last is what was sent. Collective; on every rank alike.
  virtual bool right(World& world) = 0;
};

// An exchange that a computation may hide: every rank puts to the next one of a ring.
struct Overlap : Contender {
  std::string progress;  // what moves it on meanwhile: "none", "points" (stated ones) or "thread"
  std::size_t bytes = 0;
  virtual void start() = 0;
  virtual void point() = 0;  // what the computation calls at a stated point
  virtual void wait() = 0;
  virtual std::byte* sent() = 0;
  virtual const std::byte* arrived() const = 0;
};

// One of the steps that tell how much was hidden: the exchange, the computation, or both.
struct OverlapPart : Contender {
  virtual void step() = 0;
  // Whether what arrived last is what was sent. Collective; on every rank alike.
  virtual bool right(World& world) = 0;
};

// How OpenTCA's own chains are made.
struct Way {
  std::string fabric;
  std::string route;  // forced protocol, or empty
  bool guarded = true;
};

struct OverlapTask {
  std::size_t bytes;
  std::string progress;
};

struct CollTask {
  std::string what;  // barrier, bcast, allgather, allreduce, reduce_scatter, alltoall
  std::size_t bytes =
      0;  // a block: what one rank has for one other, or for all; doubles where there are sums
  std::string fabric;
  std::string algorithm;  // forced, or empty
  std::string route;
};

// Peers that a caller asks for by name.
enum class Peer { mpi, hand };

// Collective factories. The MPI ones return null where MPI was not there to compile against.
std::unique_ptr<PingPong> chain_ping_pong(World& world, std::size_t bytes, const Way& way);
std::unique_ptr<PingPong> mpi_ping_pong(World& world, std::size_t bytes);
std::unique_ptr<PingPong> hand_ping_pong(World& world, std::size_t bytes);

std::unique_ptr<FaceExchange> chain_faces(World& world, const Face& face, const Way& way);
std::unique_ptr<FaceExchange> mpi_faces(World& world, const Face& face);
// The three ways of halo exchange that one would write by hand for this very case. "direct" leaves out the guard, as
// a lower bound: its ghosts could be overwritten while they are read.
std::unique_ptr<FaceExchange> hand_faces(World& world, const Face& face, const std::string& way);
// The same step without any exchange.
std::unique_ptr<FaceExchange> no_exchange(World& world, const Face& face);

std::unique_ptr<Overlap> chain_overlap(World& world, const OverlapTask& task, const Way& way);
// Persistent requests; MPI_Testall at stated points.
std::unique_ptr<Overlap> mpi_overlap(World& world, const OverlapTask& task);

std::unique_ptr<Coll> chain_coll(World& world, const CollTask& task);
std::unique_ptr<Coll> mpi_coll(World& world, const CollTask& task);

std::string mpi_version();  // empty without MPI

}  // namespace tca::bench
