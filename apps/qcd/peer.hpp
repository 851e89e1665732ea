// Another library's messages and sums in place of OpenTCA's, for comparison: the same bytes between the same ranks.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "tca/stream.hpp"
#include "tca/world.hpp"

namespace tca::qcd {

// What goes to one neighbour, and what comes back from it.
struct Message {
  int neighbour;
  int tag;       // of what goes; neighbours on both sides may be one rank
  int back_tag;  // of what comes
  const std::byte* from;
  std::byte* to;
  std::size_t bytes;  // each way
};

class Peer {
 public:
  // Messages that are prepared once and started many times; ordered on a stream where their memory is a GPU's.
  class Exchange {
   public:
    virtual ~Exchange() = default;
    virtual void start(Stream stream) = 0;
    virtual void wait(Stream stream) = 0;
  };

  virtual ~Peer() = default;

  virtual std::unique_ptr<Exchange> exchange(std::span<const Message> messages) const = 0;
  // In place, over all ranks; on a stream, of numbers on a GPU.
  virtual void sum(std::span<double> numbers, Stream stream) const = 0;
  virtual std::string explain() const = 0;
};

// MPI, with persistent requests on the packed halves and MPI_Allreduce. Initialises MPI, and finalises it at the end, so there
// can be one in a process. Nothing when MPI was not there to compile against. Throws Error{invalid_argument} when MPI's
// ranks are not the world's.
std::unique_ptr<Peer> mpi_peer(World& world);

// The same for GPUs, by way of pinned memory, whether or not MPI would take a GPU's: the host waits for what is to be sent, so no
// graph holds it. Made where the GPU fabric is.
std::unique_ptr<Peer> staged_mpi_peer(World& world);

// NCCL, for a world of fabric cuda: a group of ncclSend and ncclRecv, and ncclAllReduce, on a stream beside the caller's. The
// kernels project straight into what is sent and read straight from what has come, so there is nothing to pack or unpack. Throws
// Error{invalid_argument} when ranks share a GPU, which NCCL does not do. Nothing when it was not there to compile against.
std::unique_ptr<Peer> nccl_peer(World& world);

}  // namespace tca::qcd
