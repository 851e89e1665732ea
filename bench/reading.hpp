// What a program does with what has arrived; until then the bytes may still lie in the sender's cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tca::bench {

// Of its words, and of the bytes behind the last whole one.
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
  asm volatile("" : : "r"(sum_of(bytes)));  // somebody could use it
}

}  // namespace tca::bench
