// Hashes of bytes and of numbers, which are the same everywhere and always.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tca::base {

// FNV-1a (Fowler, Noll, Vo). It detects accidents, not forgeries.
inline std::uint64_t fnv1a(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<std::uint64_t>(byte)) * 0x100000001b3;
  return hash;
}

// The output function of SplitMix64, and the step between its inputs (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", 2014).
inline constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

}  // namespace tca::base
