// An exchange among some of the ranks that sit at a rendezvous. Each places its contribution in its
// mailbox, piece by piece, under a name that only the participants of this exchange look for, and places
// the next piece when all of them have read the previous one. So a rank that takes part in one exchange at
// a time needs one mailbox for any number of groups: the world's for long data, and a small one of its own.
#pragma once

#include <vector>

#include "control/all_gather.hpp"
#include "control/shm/rendezvous.hpp"

namespace tca::shm {

class SeatGather final : public control::AllGather {
 public:
  // `phase`: that of the rank's last all-gather of the whole world, for which the world's mailbox may still
  // be read.
  SeatGather(Rendezvous rendezvous, int rank, std::uint32_t phase, const control::Subset& subset,
             const base::Blob& mine);

  bool advance() override;
  std::vector<int> missing() const override;
  std::vector<base::Blob> take() override { return std::move(blobs_); }

 private:
  struct Peer {
    int rank;
    std::uint64_t pieces = 0;  // that have been read
    bool complete = false;
  };

  void lay_out_next();
  void read_from(Peer& peer, base::Blob& blob);
  std::uint64_t name_of(std::uint64_t piece) const;

  Rendezvous rendezvous_;
  int rank_;
  std::uint32_t phase_;
  std::uint64_t key_, exchange_;
  base::Blob mine_;
  std::size_t laid_out_ = 0;  // bytes
  std::uint64_t pieces_ = 0;  // that have been laid out
  std::vector<Peer> peers_;
  std::vector<base::Blob> blobs_;
};

}  // namespace tca::shm
