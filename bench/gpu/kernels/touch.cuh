// Writing what a step sends and reading what it has received, from inside a kernel.
#pragma once

#include "gpu/kernels/touch.hpp"

namespace tca::bench::gpu {

// The values of four bytes that are sent, from place `4 * word` on.
__device__ inline std::uint32_t fresh_word(std::uint32_t seed, std::uint32_t step, std::size_t word) {
  return (step + 1) * 0x9e3779b9u + seed * 0xc2b2ae35u + static_cast<std::uint32_t>(word) * 0x85ebca6bu;
}
__device__ inline std::uint8_t fresh_byte(std::uint32_t seed, std::uint32_t step, std::size_t place) {
  return static_cast<std::uint8_t>(fresh_word(seed, step, place / 4) >> place % 4 * 8);
}

__device__ inline std::size_t offset(const Rows& rows, std::size_t place) {
  return place / rows.row * rows.pitch + place % rows.row;
}

__device__ inline bool in_words(const std::byte* at, const Rows& rows) {
  return (reinterpret_cast<std::uintptr_t>(at) | rows.row | rows.pitch) % 4 == 0;
}

// A range of a piece's bytes, and this thread among those that share it, each of which takes some words that
// follow each other. A range that is not the whole begins and ends at words.
struct Part {
  std::size_t begin, end, thread, threads;
  unsigned words = 1;  // at a time

  template <class Work>
  __device__ void each_word(Work work) const {
    for (std::size_t word = begin / 4 + thread * words; word < end / 4; word += threads * words)
      for (std::size_t i = word; i < word + words && i < end / 4; ++i) work(i);
  }

  // Every thread of the grid, over the whole.
  static __device__ Part of_grid(const Rows& rows) {
    return {0, rows.rows * rows.row, blockIdx.x * std::size_t{blockDim.x} + threadIdx.x,
            std::size_t{gridDim.x} * blockDim.x};
  }
  // Every thread of the block, over a range.
  static __device__ Part of_block(std::size_t begin, std::size_t end) {
    return {begin, end, threadIdx.x, blockDim.x};
  }
};

__device__ inline void write_piece(const Piece& piece, const Rows& rows, std::uint32_t step,
                                   const Part& part) {
  std::size_t done = part.begin;
  if (in_words(piece.at, rows)) {
    done = part.end / 4 * 4;
    part.each_word([&](std::size_t word) {
      *reinterpret_cast<std::uint32_t*>(piece.at + offset(rows, 4 * word)) =
          fresh_word(piece.seed, step, word);
    });
  }
  for (std::size_t place = done + part.thread; place < part.end; place += part.threads)
    piece.at[offset(rows, place)] = std::byte{fresh_byte(piece.seed, step, place)};
}

// What has arrived is read past the first-level cache, which may hold what was there before.
__device__ inline void read_piece(const Piece& piece, const Rows& rows, const Part& part) {
  std::uint32_t sum = 0;
  std::size_t done = part.begin;
  if (in_words(piece.at, rows)) {
    done = part.end / 4 * 4;
    part.each_word([&](std::size_t word) {
      sum += __ldcg(reinterpret_cast<const std::uint32_t*>(piece.at + offset(rows, 4 * word)));
    });
  }
  for (std::size_t place = done + part.thread; place < part.end; place += part.threads)
    sum += __ldcg(reinterpret_cast<const unsigned char*>(piece.at + offset(rows, place)));
  asm volatile("" : : "r"(sum));  // makes the sum look used
}

__device__ inline void write_pieces(const Touched& touched, std::uint32_t step) {
  for (int i = 0; i < touched.sends; ++i)
    write_piece(touched.sent[i], touched.rows, step, Part::of_grid(touched.rows));
}
__device__ inline void read_pieces(const Touched& touched) {
  for (int i = 0; i < touched.receives; ++i)
    read_piece(touched.arrived[i], touched.rows, Part::of_grid(touched.rows));
}

}  // namespace tca::bench::gpu
