// Every rank's bytes to every other rank, without blocking, so that whoever waits can say for whom.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/codec.hpp"
#include "fabric/mpi/call.hpp"

namespace tca::mpi {

// One exchange. Those on one communicator must be made in the same order by every rank; a rank may run ahead.
class Parcels {
 public:
  // `first_tag` and the one behind it are used for nothing else.
  Parcels(MPI_Comm comm, int first_tag, const base::Blob& mine);
  Parcels(const Parcels&) = delete;
  ~Parcels();

  // Moves on; true once everything has come and gone.
  bool advance();

  // The ranks whose bytes have not come.
  std::vector<int> missing() const;
  bool has_come(int rank) const { return peers_[static_cast<std::size_t>(rank)].stage == Stage::complete; }

  std::vector<base::Blob> take();

 private:
  enum class Stage { head, rest, complete };
  struct Peer {
    Stage stage = Stage::head;
    base::Blob bytes;  // the head as it comes, then everything
    MPI_Request incoming = MPI_REQUEST_NULL;
    MPI_Request outgoing[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };

  // Only makes room, so that the destructor takes back what the rest of the set-up has begun when it fails.
  Parcels(MPI_Comm comm, int first_tag);
  void exchange_heads(const base::Blob& mine);
  bool receive(int rank, Peer& peer);

  MPI_Comm comm_;
  int first_tag_;
  int rank_ = 0;
  std::unique_ptr<base::Blob> head_, rest_;  // what this rank sends
  std::vector<Peer> peers_;
};

}  // namespace tca::mpi
