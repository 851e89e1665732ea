#include "control/shm/seat_gather.hpp"

#include <algorithm>
#include <cstring>

#include "base/hash.hpp"

namespace tca::shm {

SeatGather::SeatGather(Rendezvous rendezvous, int rank, std::uint32_t phase, const control::Subset& subset,
                       const base::Blob& mine)
    : rendezvous_(rendezvous),
      rank_(rank),
      phase_(phase),
      key_(subset.key),
      exchange_(subset.exchanges),
      mine_(mine),
      blobs_(subset.ranks.size()) {
  for (const int member : subset.ranks) {
    peers_.push_back({.rank = member, .complete = member == rank_});
    if (member == rank_) blobs_[peers_.size() - 1] = mine;
  }
}

bool SeatGather::advance() {
  lay_out_next();
  bool done = true;
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    if (!peers_[i].complete) read_from(peers_[i], blobs_[i]);
    done &= peers_[i].complete;
  }
  // Acquire: pairs with the release of the readers, after whose last one the mailbox belongs to this rank again.
  return done && pieces_ > 0 && laid_out_ == mine_.size() &&
         rendezvous_.seat(rank_).unread.load(std::memory_order_acquire) == 0;
}

void SeatGather::lay_out_next() {
  if (pieces_ > 0 && laid_out_ == mine_.size()) return;
  Seat& seat = rendezvous_.seat(rank_);
  if (mine_.size() > small_blob && !rendezvous_.have_all_reached(phase_)) return;
  if (seat.unread.load(std::memory_order_acquire) != 0) return;
  seat.total_among = mine_.size();
  const std::size_t bytes = std::min(mailbox_bytes, mine_.size() - laid_out_);
  if (bytes > 0) std::memcpy(rendezvous_.letter_among(rank_), mine_.data() + laid_out_, bytes);
  laid_out_ += bytes;
  seat.unread.store(static_cast<std::uint32_t>(peers_.size() - 1), std::memory_order_relaxed);
  // Release: pairs with the acquire in `read_from`; the piece and the number of its readers come before its name.
  seat.piece.store(name_of(pieces_++), std::memory_order_release);
}

void SeatGather::read_from(Peer& peer, base::Blob& blob) {
  Seat& seat = rendezvous_.seat(peer.rank);
  if (seat.piece.load(std::memory_order_acquire) != name_of(peer.pieces)) return;
  const std::size_t bytes = std::min(mailbox_bytes, seat.total_among - blob.size());
  const std::byte* const letter = rendezvous_.letter_among(peer.rank);
  blob.insert(blob.end(), letter, letter + bytes);
  peer.complete = blob.size() == seat.total_among;
  ++peer.pieces;
  // Release: pairs with the acquire of the rank whose mailbox this is.
  seat.unread.fetch_sub(1, std::memory_order_release);
}

std::vector<int> SeatGather::missing() const {
  std::vector<int> ranks;
  for (std::size_t i = 0; i < peers_.size(); ++i)
    if (!peers_[i].complete) ranks.push_back(static_cast<int>(i));
  return ranks;
}

// A name for a piece of an exchange of a group; never 0, which is that of a mailbox that nothing lies in.
std::uint64_t SeatGather::name_of(std::uint64_t piece) const {
  return base::mix(key_ + exchange_ * base::golden + piece * 0xd1342543de82ef95) | 1;
}

}  // namespace tca::shm
