// The input and the expected result of a collective under measurement, the same for all contenders.
#pragma once

#include <cstdint>
#include <span>

#include "contender.hpp"
#include "measure/touching.hpp"

namespace tca::bench {

// Describes, fills and checks the buffers of a rank. Elements are doubles for collectives that add up, or on GPUs floats if the
// task says so, and bytes otherwise.
class CollValues {
 public:
  CollValues(const World& world, const CollTask& task);

  bool sums() const { return what_ == "allreduce" || what_ == "reduce_scatter"; }
  std::size_t element_bytes() const { return !sums() ? 1 : floats_ ? sizeof(float) : sizeof(double); }
  std::size_t count() const { return count_; }  // elements of a block
  std::size_t in() const;                       // elements of the input
  std::size_t out() const;
  // The number of fills after which values come again: few of floats, so that sums over many ranks are exact.
  std::uint64_t turns() const { return floats_ ? 1024 : std::uint64_t{1} << 40; }
  std::size_t in_bytes() const { return in() * element_bytes(); }
  std::size_t out_bytes() const { return out() * element_bytes(); }

  // Writes what this rank gives, with values that the run before has not had. All elements have the same
  // value, which differs from rank to rank. A run of "bcast" is two broadcasts: rank 0's from the input buffer
  // and the last rank's from the output buffer.
  void fill(std::span<std::byte> input, std::span<std::byte> output);
  // Says that the buffers have been filled elsewhere, `times` times so far.
  void filled(std::uint64_t times) { fills_ = times; }
  // Reads the whole result as a program would, and remembers whether it is that of the inputs as last filled.
  void read(std::span<const std::byte> input, std::span<const std::byte> output);
  // Collective. Returns, alike on every rank, whether all ranks have the result of the inputs as last filled,
  // and have read the right one each time.
  bool right(World& world, std::span<const std::byte> input, std::span<const std::byte> output) const;

 private:
  // Returns what a rank has filled its input with.
  std::byte value_of(std::size_t rank) const { return fresh_value(fills_, static_cast<int>(rank)); }
  // Returns what a rank has filled its input with where there are sums, and the sum over all ranks.
  double addend_of(std::size_t rank) const { return static_cast<double>(64 * (fills_ % turns()) + rank + 1); }
  double sum() const;
  // Returns the value of the block from `rank` in the output.
  std::byte value_in_output(std::size_t rank) const { return value_of(what_ == "bcast" ? ranks_ - 1 : rank); }
  bool all_right(std::span<const std::byte> output) const;
  template <class T>
  bool all_are(std::span<const std::byte> output, T expected) const;

  std::string what_;
  bool floats_;
  std::size_t rank_, ranks_, count_;
  std::uint64_t fills_ = 0;
  bool has_read_wrong_ = false;
};

}  // namespace tca::bench
