#include "coll_values.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "measure/agree.hpp"

namespace tca::bench {

CollValues::CollValues(const World& world, const CollTask& task)
    : what_(task.what),
      floats_(task.floats),
      rank_(static_cast<std::size_t>(world.rank())),
      ranks_(static_cast<std::size_t>(world.size())),
      count_(0) {
  count_ = task.bytes / element_bytes();
}

std::size_t CollValues::in() const {
  return (what_ == "alltoall" || what_ == "reduce_scatter" ? ranks_ : 1) * count_;
}

std::size_t CollValues::out() const {
  return (what_ == "alltoall" || what_ == "allgather" ? ranks_ : 1) * count_;
}

double CollValues::sum() const {
  double sum = 0;
  for (std::size_t rank = 0; rank < ranks_; ++rank) sum += addend_of(rank);
  return sum;
}

void CollValues::fill(std::span<std::byte> input, std::span<std::byte> output) {
  ++fills_;
  if (sums()) {
    auto* values = reinterpret_cast<double*>(input.data());
    std::fill_n(values, in(), addend_of(rank_));
  } else if (what_ != "bcast" || rank_ == 0) {
    write_all(input, value_of(rank_));
  }
  if (what_ == "bcast" && rank_ + 1 == ranks_) write_all(output, value_of(rank_));
}

void CollValues::read(std::span<const std::byte> input, std::span<const std::byte> output) {
  if (what_ == "barrier") return;
  bool right = what_ != "bcast" || read_all(input, value_of(0));
  if (sums()) {
    right &= sum_of(output) == out() * std::bit_cast<std::uint64_t>(sum());
  } else {
    for (std::size_t block = 0; block * count_ < out(); ++block)
      right &= read_all(output.subspan(block * count_, count_), value_in_output(block));
  }
  has_read_wrong_ |= !right;
}

template <class T>
bool CollValues::all_are(std::span<const std::byte> output, T expected) const {
  const auto* values = reinterpret_cast<const T*>(output.data());
  return std::all_of(values, values + out(), [expected](T v) { return v == expected; });
}

bool CollValues::all_right(std::span<const std::byte> output) const {
  if (sums()) return floats_ ? all_are(output, static_cast<float>(sum())) : all_are(output, sum());
  for (std::size_t i = 0; i < out(); ++i)
    if (output[i] != value_in_output(i / count_)) return false;
  return true;
}

bool CollValues::right(World& world, std::span<const std::byte> input,
                       std::span<const std::byte> output) const {
  bool mine = !has_read_wrong_ && (what_ == "barrier" || all_right(output));
  if (what_ == "bcast") mine &= std::ranges::all_of(input, [&](std::byte b) { return b == value_of(0); });
  return all_say(world, mine);
}

}  // namespace tca::bench
