// What goes into a collective that is measured, and what must come out: the same for all contenders.
#pragma once

#include <span>

#include "contender.hpp"

namespace tca::bench {

// The buffers of a rank, in doubles where there are sums and in bytes otherwise.
class CollValues {
 public:
  CollValues(const World& world, const CollTask& task);

  bool sums() const { return what_ == "allreduce" || what_ == "reduce_scatter"; }
  std::size_t element_bytes() const { return sums() ? sizeof(double) : 1; }
  std::size_t count() const { return count_; }  // elements of a block
  std::size_t in() const;                       // elements of the input
  std::size_t out() const;

  // With values that no run before has had: in every element the same, another one on every rank. Of broadcasts there are
  // two: rank 0's of the input buffer, the last rank's of the output buffer.
  void fill(std::span<std::byte> input, std::span<std::byte> output);
  // What a program does with the result.
  void read(std::span<const std::byte> input, std::span<const std::byte> output) const;
  // Collective. Whether every rank has what the inputs make, as last filled; on every rank alike.
  bool right(World& world, std::span<const std::byte> input, std::span<const std::byte> output) const;

 private:
  // What a rank has filled its input with. Bytes take what is left of it.
  std::size_t value_of(std::size_t rank) const { return 64 * fills_ + rank + 1; }
  template <class T>
  bool all_right(std::span<const std::byte> output) const;

  std::string what_;
  std::size_t rank_, ranks_, count_;
  std::size_t fills_ = 0;
};

}  // namespace tca::bench
