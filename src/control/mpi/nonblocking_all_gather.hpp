// Non-blocking all-gather of byte blobs, so that a waiting rank can report which peers are missing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/codec.hpp"
#include "control/mpi/call.hpp"

namespace tca::mpi {

// One exchange. Every rank must make the exchanges on a communicator in the same order; a rank may run ahead.
class NonblockingAllGather {
 public:
  // `first_tag` and the tag after it are used for nothing else.
  NonblockingAllGather(MPI_Comm comm, int first_tag, const base::Blob& mine);
  NonblockingAllGather(const NonblockingAllGather&) = delete;
  ~NonblockingAllGather();

  // Moves the exchange on and returns whether everything has come and gone.
  bool advance();

  // Returns the ranks whose bytes have not come.
  std::vector<int> missing() const;
  bool has_arrived(int rank) const { return peers_[static_cast<std::size_t>(rank)].stage == Stage::complete; }

  std::vector<base::Blob> take();

 private:
  enum class Stage { head, rest, complete };
  struct Peer {
    Stage stage = Stage::head;
    base::Blob bytes;  // at first the head, then everything
    MPI_Request incoming = MPI_REQUEST_NULL;
    MPI_Request outgoing[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };

  // Only makes room. Because the other constructor delegates to this one, the destructor runs when the rest
  // of the set-up fails, and takes back what it has begun.
  NonblockingAllGather(MPI_Comm comm, int first_tag);
  void exchange_heads(const base::Blob& mine);
  bool receive(int rank, Peer& peer);

  MPI_Comm comm_;
  int first_tag_;
  int rank_ = 0;
  std::unique_ptr<base::Blob> head_, rest_;  // the bytes that this rank sends
  std::vector<Peer> peers_;
};

}  // namespace tca::mpi
