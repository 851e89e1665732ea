// The contenders that the tuner measures on GPUs; see bench/put_exchange.hpp.
#pragma once

#include <vector>

#include "gpu/contenders.hpp"
#include "put_exchange.hpp"

namespace tca::bench::gpu {

// Collective. Returns, like bench::put_exchanges, a step without an exchange and one over each of the
// channels. Kernels write what is sent before the exchange and read what arrives after it. Twenty steps are a
// graph. Where ranks share a GPU, no graph may wait for another rank's kernel, so the host starts each step.
// The field outlives the contenders.
Contenders put_exchanges(World& world, PutField& field, const PutPoint& point,
                         const std::vector<Channel>& channels);

}  // namespace tca::bench::gpu
