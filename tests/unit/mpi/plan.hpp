// What random ranks send each other in a round, which every rank works out by itself from the seed.
#pragma once

#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "mpi/engine/engine.hpp"
#include "seed.hpp"

namespace tca::test {

// Elements of 8 bytes, every third of which is part of the message; what is left of it ends the buffer.
class EveryThird : public p2p::Scattering {
 public:
  static constexpr std::size_t element = 8, pitch = 24;
  static std::size_t extent(std::size_t bytes) { return bytes / element * pitch + bytes % element; }

  void gather(const std::byte* buffer, std::size_t at, std::size_t bytes, std::byte* into) const override {
    for (std::size_t each = 0; each < bytes; ++each) into[each] = buffer[place(at + each)];
  }
  void scatter(std::byte* buffer, std::size_t at, std::size_t bytes, const std::byte* from) const override {
    for (std::size_t each = 0; each < bytes; ++each) buffer[place(at + each)] = from[each];
  }

 private:
  static std::size_t place(std::size_t byte) { return byte / element * pitch + byte % element; }
};
inline const EveryThird every_third;

struct Planned {
  int from = 0, to = 0;
  std::int32_t tag = 0;
  std::size_t bytes = 0;
  std::uint32_t identity = 0;
  bool is_taken = false;  // by a receive, as the model has it

  std::byte byte(std::size_t at) const {
    return static_cast<std::byte>((identity * 2654435761u + static_cast<std::uint32_t>(at) * 40503u) >> 13);
  }
};

// Most messages are short, some fill a ring, few are offered.
inline std::size_t random_size(std::mt19937& random) {
  switch (random_in(random, 0, 19)) {
    case 0:
      return random_in(random, 0, 40'000);
    case 1:
    case 2:
      return random_in(random, 0, 3000);
    default:
      return random_in(random, 0, 80);
  }
}

// The messages of a round, those of each rank in the order in which it sends them.
inline std::vector<Planned> plan_round(unsigned seed, unsigned round, int ranks, unsigned messages) {
  std::mt19937 random(seed * 7919 + round);
  std::vector<Planned> plan;
  for (std::uint32_t each = 0; each < messages; ++each)
    plan.push_back({.from = static_cast<int>(random_in(random, 0, static_cast<unsigned>(ranks) - 1)),
                    .to = static_cast<int>(random_in(random, 0, static_cast<unsigned>(ranks) - 1)),
                    .tag = static_cast<std::int32_t>(random_in(random, 0, 3)),
                    .bytes = random_size(random),
                    .identity = round * messages + each + 1});
  return plan;
}

}  // namespace tca::test
