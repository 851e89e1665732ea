// What a program does around a message: it computes what it sends anew, and reads all that has arrived. A line
// of the source that nobody rewrites stays in the receiver's cache once it has been fetched, and what nobody
// reads may stay in the sender's: either way its bytes cross no more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tca::bench {

// Returns the value that a rank writes into every byte in a step. It differs from the one before, and from the
// other ranks' unless they are many.
inline std::byte fresh_value(std::uint64_t step, int rank) {
  return static_cast<std::byte>(37 * step + static_cast<std::uint64_t>(rank) + 1);
}

// Writes every byte, as a program computes what it sends.
inline void write_all(std::span<std::byte> bytes, std::byte value) {
  const std::uint64_t word = 0x0101010101010101U * static_cast<std::uint64_t>(value);
  std::size_t done = 0;
  for (; done + sizeof word <= bytes.size(); done += sizeof word)
    std::memcpy(bytes.data() + done, &word, sizeof word);
  for (; done < bytes.size(); ++done) bytes[done] = value;
}

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

// Returns what `sum_of` returns of so many bytes that `write_all` has written.
inline std::uint64_t sum_of_written(std::size_t bytes, std::byte value) {
  const auto one = static_cast<std::uint64_t>(value);
  return bytes / 8 * (0x0101010101010101U * one) + bytes % 8 * one;
}

// Reads every byte, and returns whether they are what `write_all` has written.
inline bool read_all(std::span<const std::byte> bytes, std::byte value) {
  return sum_of(bytes) == sum_of_written(bytes.size(), value);
}

}  // namespace tca::bench
