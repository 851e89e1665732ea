// Non-blocking all-gather of byte blobs, so that a waiting rank can report which peers are missing.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "control/all_gather.hpp"
#include "control/mpi/call.hpp"

namespace tca::mpi {

// One exchange. Any two ranks must make the exchanges in which both take part in the same order; a rank may
// run ahead.
class NonblockingAllGather final : public control::AllGather {
 public:
  // `ranks` take part; if it is empty, all of the communicator's do. `first_tag` and the tag after it are
  // used for nothing else.
  NonblockingAllGather(MPI_Comm comm, int first_tag, const base::Blob& mine, std::vector<int> ranks = {});
  NonblockingAllGather(const NonblockingAllGather&) = delete;
  ~NonblockingAllGather() override;

  bool advance() override;
  std::vector<int> missing() const override;
  std::vector<base::Blob> take() override;

 private:
  enum class Stage { head, rest, complete };
  struct Peer {
    int rank = 0;  // in the communicator
    Stage stage = Stage::head;
    base::Blob bytes;  // at first the head, then everything
    MPI_Request incoming = MPI_REQUEST_NULL;
    MPI_Request outgoing[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };

  // Only makes room. Because the other constructor delegates to this one, the destructor runs if the rest
  // of the set-up fails, and takes back what has been begun.
  NonblockingAllGather(MPI_Comm comm, int first_tag, const std::vector<int>& ranks);
  void exchange_heads(const base::Blob& mine);
  bool receive(Peer& peer);

  MPI_Comm comm_;
  int first_tag_;
  int rank_ = 0;
  std::unique_ptr<base::Blob> head_, rest_;  // the bytes that this rank sends
  std::vector<Peer> peers_;
};

}  // namespace tca::mpi
