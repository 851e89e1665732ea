#include "model/rtl/make_hub.hpp"

#include "model/nic/peach.hpp"
#include "model/rtl/rtl_hub.hpp"

namespace tca::net {

std::unique_ptr<Hub> make_hub(Network& network, std::uint32_t interconnect, std::uint32_t host) {
  if (network.fidelity() == Fidelity::rtl) return std::make_unique<rtl::RtlHub>(network, interconnect, host);
  return std::make_unique<Peach>(network, interconnect, host);
}

}  // namespace tca::net
