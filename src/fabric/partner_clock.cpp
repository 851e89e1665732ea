#include "fabric/partner_clock.hpp"

#include <algorithm>

namespace tca::fabric {

void PartnerClock::see(const Stamp& stamp, std::int64_t seen, std::int64_t started_before) {
  if (stamp.held > 0 && started_before != 0)
    round_trip_ = std::min(round_trip_, std::max<std::int64_t>(seen - started_before - stamp.held, 0));
  if (stamps_ == most_stamps || seen - began_ > longest_ns) {
    least_before_ = least_;
    least_ = none;
    stamps_ = 0;
  }
  if (stamps_++ == 0) began_ = seen;
  least_ = std::min(least_, seen - stamp.started);
}

std::optional<std::int64_t> PartnerClock::here(std::int64_t there) const {
  const std::int64_t least = std::min(least_, least_before_);
  if (least == none) return std::nullopt;
  return there + least - crossing();
}

}  // namespace tca::fabric
