// Shares links between flows with max-min fairness.
#pragma once

#include <cstdint>
#include <vector>

namespace tca::net {

// The share of a link that a flow takes at full speed.
struct Demand {
  std::uint32_t link;   // 0, 1, ... among the links that matter
  std::uint64_t share;  // in parts of `whole`, see share_out
};

struct Flow {
  double rate;  // at full speed, in any unit
  std::vector<Demand> demands;
};

// Returns the speed of each flow, where `whole` is full speed. The shares taken from a link add up to no
// more than `whole`, and no flow could have a higher rate without reducing that of a flow whose rate is no
// higher (progressive filling: Bertsekas and Gallager, "Data Networks", 1992, section 6.5.2).
std::vector<std::uint64_t> share_out(const std::vector<Flow>& flows, std::uint32_t links,
                                     std::uint64_t whole);

}  // namespace tca::net
