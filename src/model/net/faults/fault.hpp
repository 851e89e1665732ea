// What fails on a modelled machine, and when.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "model/des/time.hpp"

namespace tca::net {

struct Fault {
  enum class Kind : std::uint8_t {
    cable,  // between the hubs of `node` and `other`, in both directions
    hub,    // the NIC that connects `node` to the ring or torus: nothing passes through, in or out
    host,   // the processor of `node`: its ranks stop, while its hub goes on
  };
  Kind kind = Kind::cable;
  std::uint32_t node = 0, other = 0;
  des::Time at = 0;

  bool operator==(const Fault&) const = default;
};

// A view of the network is a set of faults, a bit each.
using View = std::uint64_t;
constexpr std::size_t most_faults = 64;

// Reads "cable:0-1@20us,hub:3@50us,host:2@1ms", in the order in which it is written. Throws
// Error{invalid_argument}, which names `asker`, the option or variable that holds the text.
std::vector<Fault> read_faults(std::string_view text, std::string_view asker);

// Returns "cable 0-1", "hub 3", "host 2".
std::string name_of(const Fault& fault);
// Returns "cable 0-1, which failed at 20.000 us".
std::string describe(const Fault& fault);

}  // namespace tca::net
