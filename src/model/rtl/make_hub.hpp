// Makes the hub for the network's fidelity.
#pragma once

#include <memory>

#include "model/nic/hub.hpp"

namespace tca::net {

// `host` is the unit of each node whose processor drives the NICs. Throws Error{invalid_argument} if these
// have no DMA controllers that walk chains or, at fidelity rtl, do not exist in RTL.
std::unique_ptr<Hub> make_hub(Network& network, std::uint32_t interconnect, std::uint32_t host);

}  // namespace tca::net
