// The input and the expected result of a collective under measurement, the same for all contenders.
#pragma once

#include <span>

#include "contender.hpp"

namespace tca::bench {

// Describes, fills and checks the buffers of a rank. Elements are doubles for collectives that add up, and
// bytes otherwise.
class CollValues {
 public:
  CollValues(const World& world, const CollTask& task);

  bool sums() const { return what_ == "allreduce" || what_ == "reduce_scatter"; }
  std::size_t element_bytes() const { return sums() ? sizeof(double) : 1; }
  std::size_t count() const { return count_; }  // elements of a block
  std::size_t in() const;                       // elements of the input
  std::size_t out() const;

  // Fills the buffers with values that no run before has had. All elements have the same value, which differs
  // from rank to rank. A run of "bcast" is two broadcasts: rank 0's from the input buffer and the last rank's
  // from the output buffer.
  void fill(std::span<std::byte> input, std::span<std::byte> output);
  // Reads the result as a program would.
  void read(std::span<const std::byte> input, std::span<const std::byte> output) const;
  // Collective. Returns, alike on every rank, whether all ranks have the result of the inputs as last filled.
  bool right(World& world, std::span<const std::byte> input, std::span<const std::byte> output) const;

 private:
  // Returns what a rank has filled its input with. In bytes it is truncated.
  std::size_t value_of(std::size_t rank) const { return 64 * fills_ + rank + 1; }
  template <class T>
  bool all_right(std::span<const std::byte> output) const;

  std::string what_;
  std::size_t rank_, ranks_, count_;
  std::size_t fills_ = 0;
};

}  // namespace tca::bench
