// A Peer carries the messages and sums with another library instead of OpenTCA, for comparison: the same
// bytes between the same ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "tca/stream.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

// What this rank sends to one neighbour, and what it receives from it.
struct Message {
  int neighbour;
  int tag;       // of what is sent; the neighbours on both sides may be the same rank
  int back_tag;  // of what is received
  const std::byte* from;
  std::byte* to;
  std::size_t bytes;  // in each direction
};

class Peer {
 public:
  // Messages that are prepared once and started many times. If their memory is on a GPU they are ordered on a
  // stream.
  class Exchange {
   public:
    virtual ~Exchange() = default;
    virtual void start(Stream stream) = 0;
    virtual void wait(Stream stream) = 0;
  };

  virtual ~Peer() = default;

  virtual std::unique_ptr<Exchange> exchange(std::span<const Message> messages) const = 0;
  // Replaces the numbers by their sums over all ranks. If they are on a GPU it is ordered on the stream.
  virtual void sum(std::span<double> numbers, Stream stream) const = 0;
  virtual std::string explain() const = 0;
};

// Uses MPI: persistent requests on the packed halves, and MPI_Allreduce. It initialises MPI unless it runs
// already, and finalises it at the end. A process can have only one such peer, because MPI cannot be
// initialised again. Returns null if OpenTCA was built without MPI. Throws Error{invalid_argument} if the
// ranks of MPI differ from those of the world.
std::unique_ptr<Peer> mpi_peer(World& world);

// The same for GPUs. It always stages through pinned host memory, even if this MPI accepts GPU memory. The
// host waits until the data to send are there, so a graph cannot contain it. Only built with the GPU fabric.
std::unique_ptr<Peer> staged_mpi_peer(World& world);

// Uses NCCL, for a world of fabric cuda: one group of ncclSend and ncclRecv, and ncclAllReduce, on the
// caller's stream. The kernels project straight into the send buffer and read straight from the receive
// buffer, so there is no packing. Throws Error{invalid_argument} if ranks share a GPU, which NCCL does not
// support. Returns null if OpenTCA was built without NCCL.
std::unique_ptr<Peer> nccl_peer(World& world);

}  // namespace tca::qcd
