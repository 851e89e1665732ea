// A peer's time beside OpenTCA's, in words.
#pragma once

#include <optional>
#include <string>

#include "measure/verdict.hpp"

namespace tca::tool {

// Says how many times OpenTCA's time the peer's is, where that exceeds its spread.
std::string compared(const std::string& peer, double own_us, double peer_us,
                     const std::optional<bench::Spread>& ratio);

}  // namespace tca::tool
