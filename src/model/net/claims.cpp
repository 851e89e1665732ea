#include "model/net/claims.hpp"

namespace tca::net {

void Claims::add(LinkId link, const Claim& claim) {
  std::uint32_t slot = free_;
  if (slot == none) {
    slot = static_cast<std::uint32_t>(claims_.size());
    claims_.emplace_back();
  } else {
    free_ = claims_[slot].next;
    if (free_ != none) des::prefetch(&claims_[free_], sizeof(Claim));  // for the next call
  }
  claims_[slot] = claim;
  claims_[slot].next = first_[link];
  first_[link] = slot;
}

bool Claims::remove(LinkId link, TrainId train) {
  std::uint32_t* at = &first_[link];
  while (claims_[*at].train != train) at = &claims_[*at].next;
  const std::uint32_t slot = *at;
  *at = claims_[slot].next;
  claims_[slot].next = free_;
  free_ = slot;
  return first_[link] != none;
}

std::uint32_t Claims::find(TrainId train, LinkId link) const {
  std::uint32_t slot = first_[link];
  while (claims_[slot].train != train) slot = claims_[slot].next;
  return slot;
}

}  // namespace tca::net
