// Which vertices each rank owns: whole words of a bitmap, 64 vertices each, one rank's behind the other's.
// Since labels are random, every rank gets as many neighbours as any other, up to chance.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bfs/problem.hpp"

namespace tca::bfs {

class Partition {
 public:
  static constexpr std::int64_t in_word = 64;

  // Throws Error{invalid_argument} unless there is a word for every rank.
  Partition(const Problem& problem, int ranks);

  int ranks() const { return ranks_; }
  std::int64_t vertices() const { return vertices_; }  // that there are

  // Every rank has room for equally many, in which those of the last ranks need not exist.
  std::int64_t words() const { return words_; }
  std::int64_t each() const { return words_ * in_word; }
  std::int64_t all_words() const { return words_ * ranks_; }
  std::int64_t room() const { return each() * ranks_; }

  std::int64_t first(int rank) const { return rank * each(); }
  int owner(Vertex vertex) const { return static_cast<int>(vertex / each()); }

 private:
  int ranks_;
  std::int64_t vertices_, words_;
};

// Bitmaps of vertices.
inline std::size_t word_of(Vertex vertex) { return static_cast<std::size_t>(vertex) / Partition::in_word; }
inline std::uint64_t bit_of(Vertex vertex) {
  return std::uint64_t{1} << (static_cast<std::size_t>(vertex) % Partition::in_word);
}

}  // namespace tca::bfs
