// Random numbers that depend only on what they are used for: Philox4x32-10 (J. Salmon et al., "Parallel
// random numbers: as easy as 1, 2, 3", SC11). So every rank draws the same numbers for the same counter.
// Callable on the GPU.
#pragma once

#include <cstdint>

#include "tca/device/memory.hpp"

namespace tca::apps {

struct Philox {
  std::uint32_t word[4];
};

TCA_DEVICE Philox philox(Philox counter, std::uint32_t key0, std::uint32_t key1) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ key0, static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ key1, static_cast<std::uint32_t>(a)}};
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return counter;
}

}  // namespace tca::apps
