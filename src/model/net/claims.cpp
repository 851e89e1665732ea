#include "model/net/claims.hpp"

namespace tca::net {

void Claims::add(LinkId link, const Claim& claim) {
  std::uint32_t place = free_;
  if (place == none) {
    place = static_cast<std::uint32_t>(claims_.size());
    claims_.emplace_back();
  } else {
    free_ = claims_[place].next;
    if (free_ != none) des::prefetch(&claims_[free_], sizeof(Claim));  // for the next call
  }
  claims_[place] = claim;
  claims_[place].next = first_[link];
  first_[link] = place;
}

bool Claims::remove(LinkId link, TrainId train) {
  std::uint32_t* at = &first_[link];
  while (claims_[*at].train != train) at = &claims_[*at].next;
  const std::uint32_t place = *at;
  *at = claims_[place].next;
  claims_[place].next = free_;
  free_ = place;
  return first_[link] != none;
}

std::uint32_t Claims::find(TrainId train, LinkId link) const {
  std::uint32_t place = first_[link];
  while (claims_[place].train != train) place = claims_[place].next;
  return place;
}

}  // namespace tca::net
