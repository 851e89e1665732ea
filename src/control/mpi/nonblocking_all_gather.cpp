#include "control/mpi/nonblocking_all_gather.hpp"

#include <algorithm>
#include <climits>
#include <cstring>

#include "base/fail.hpp"
#include "base/system/leak_intentionally.hpp"

namespace tca::mpi {

namespace {

// A head says how many bytes there are and carries the first of them. Most exchanges need no more.
constexpr std::size_t head_bytes = 2048, inline_bytes = head_bytes - sizeof(std::uint64_t);

std::uint64_t announced(const base::Blob& head) {
  std::uint64_t bytes;
  std::memcpy(&bytes, head.data(), sizeof bytes);
  return bytes;
}

void give_up(MPI_Request& request, bool& stays) {
  int done = 0;
  if (request == MPI_REQUEST_NULL || MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done)
    return;
  stays = true;
  MPI_Request_free(&request);
}

}  // namespace

NonblockingAllGather::NonblockingAllGather(MPI_Comm comm, int first_tag, const std::vector<int>& ranks)
    : comm_(comm),
      first_tag_(first_tag),
      head_(std::make_unique<base::Blob>(sizeof(std::uint64_t))),
      rest_(std::make_unique<base::Blob>()) {
  int size = 0;
  MPI_Comm_rank(comm_, &rank_);
  MPI_Comm_size(comm_, &size);
  peers_.resize(ranks.empty() ? static_cast<std::size_t>(size) : ranks.size());
  for (std::size_t i = 0; i < peers_.size(); ++i)
    peers_[i].rank = ranks.empty() ? static_cast<int>(i) : ranks[i];
}

NonblockingAllGather::NonblockingAllGather(MPI_Comm comm, int first_tag, const base::Blob& mine,
                                           std::vector<int> ranks)
    : NonblockingAllGather(comm, first_tag, ranks) {
  if (mine.size() > INT_MAX)
    base::fail(
        Errc::refused,
        "a rank brings {} bytes to a collective call, and MPI takes 2 GiB; commit chains of fewer puts",
        mine.size());
  exchange_heads(mine);
}

void NonblockingAllGather::exchange_heads(const base::Blob& mine) {
  const InMpi inside;
  const std::uint64_t bytes = mine.size();
  const auto split = mine.begin() + static_cast<std::ptrdiff_t>(std::min(mine.size(), inline_bytes));
  std::memcpy(head_->data(), &bytes, sizeof bytes);
  head_->insert(head_->end(), mine.begin(), split);
  rest_->assign(split, mine.end());
  for (Peer& peer : peers_) {
    const int rank = peer.rank;
    if (rank == rank_) {
      peer.bytes = mine;
      peer.stage = Stage::complete;
      continue;
    }
    peer.bytes.resize(head_bytes);
    check(MPI_Irecv(peer.bytes.data(), static_cast<int>(head_bytes), MPI_BYTE, rank, first_tag_, comm_,
                    &peer.incoming),
          "setting up");
    check(MPI_Isend(head_->data(), static_cast<int>(head_->size()), MPI_BYTE, rank, first_tag_, comm_,
                    &peer.outgoing[0]),
          "setting up");
    if (rest_->empty()) continue;
    check(MPI_Isend(rest_->data(), static_cast<int>(rest_->size()), MPI_BYTE, rank, first_tag_ + 1, comm_,
                    &peer.outgoing[1]),
          "setting up");
  }
}

// After an exchange that failed, MPI may still read and write this memory, so it is left to the process.
NonblockingAllGather::~NonblockingAllGather() {
  const InMpi inside;
  bool sends_stay = false;
  for (Peer& peer : peers_) {
    if (!is_up()) break;
    bool stays = false;
    if (peer.incoming != MPI_REQUEST_NULL) MPI_Cancel(&peer.incoming);
    give_up(peer.incoming, stays);
    if (stays) base::leak_intentionally(std::move(peer.bytes));
    for (MPI_Request& request : peer.outgoing) give_up(request, sends_stay);
  }
  if (!sends_stay) return;
  base::leak_intentionally(std::move(head_));
  base::leak_intentionally(std::move(rest_));
}

bool NonblockingAllGather::advance() {
  const InMpi inside;
  bool done = true;
  for (Peer& peer : peers_) {
    if (peer.stage != Stage::complete) done &= receive(peer);
    for (MPI_Request& request : peer.outgoing) {
      int sent = 1;
      if (request != MPI_REQUEST_NULL) check(MPI_Test(&request, &sent, MPI_STATUS_IGNORE), "setting up");
      done &= sent != 0;
    }
  }
  return done;
}

bool NonblockingAllGather::receive(Peer& peer) {
  int come = 0;
  check(MPI_Test(&peer.incoming, &come, MPI_STATUS_IGNORE), "setting up");
  if (!come) return false;
  if (peer.stage == Stage::head) {
    const auto bytes = static_cast<std::size_t>(announced(peer.bytes));
    peer.bytes.erase(peer.bytes.begin(), peer.bytes.begin() + sizeof(std::uint64_t));
    peer.bytes.resize(bytes);
    if (bytes > inline_bytes) {
      peer.stage = Stage::rest;
      check(MPI_Irecv(peer.bytes.data() + inline_bytes, static_cast<int>(bytes - inline_bytes), MPI_BYTE,
                      peer.rank, first_tag_ + 1, comm_, &peer.incoming),
            "setting up");
      return false;
    }
  }
  peer.stage = Stage::complete;
  return true;
}

std::vector<int> NonblockingAllGather::missing() const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (peers_[i].stage != Stage::complete) ranks.push_back(static_cast<int>(i));
  return ranks;
}

std::vector<base::Blob> NonblockingAllGather::take() {
  std::vector<base::Blob> all;
  for (Peer& peer : peers_) all.push_back(std::move(peer.bytes));
  return all;
}

}  // namespace tca::mpi
