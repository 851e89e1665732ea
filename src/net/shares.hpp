// Max-min fair sharing of links.
#pragma once

#include <cstdint>
#include <vector>

namespace tca::net {

// What a flow takes of a link while it runs at full speed, in parts of the whole of it.
struct Demand {
  std::uint32_t link;  // 0, 1, ... of those that matter
  std::uint64_t share;
};

struct Flow {
  double rate;  // at full speed, in any unit
  std::vector<Demand> demands;
};

// The speed of each flow, `whole` being full speed: the takings of a link come to no more than `whole`, and no flow could
// have a higher rate without taking some from one whose rate is no higher (progressive filling: Bertsekas and Gallager,
// "Data Networks", 1992, section 6.5.2).
std::vector<std::uint64_t> share_out(const std::vector<Flow>& flows, std::uint32_t links,
                                     std::uint64_t whole);

}  // namespace tca::net
