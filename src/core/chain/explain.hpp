// Chain::explain, and what a chain keeps for it.
#pragma once

#include "core/chain/chain_state.hpp"

namespace tca::core {

// Packs a rank's declarations into few bytes, since there may be thousands of chains.
base::Blob record_of(const Draft& draft);

}  // namespace tca::core
