// Reads what has arrived, as a program does. Until then the bytes may still lie in the sender's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tca::bench {

// Returns the sum of the words, and of the bytes behind the last whole word.
inline std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0;
  std::size_t done = 0;
  for (std::uint64_t word; done + sizeof word <= bytes.size(); done += sizeof word) {
    std::memcpy(&word, bytes.data() + done, sizeof word);
    sum += word;
  }
  for (; done < bytes.size(); ++done) sum += static_cast<std::uint64_t>(bytes[done]);
  return sum;
}

inline void read_all(std::span<const std::byte> bytes) {
  asm volatile("" : : "r"(sum_of(bytes)));  // makes the sum look used
}

}  // namespace tca::bench
