#include "coll_values.hpp"

#include <algorithm>
#include <vector>

#include "agree.hpp"
#include "reading.hpp"

namespace tca::bench {

CollValues::CollValues(const World& world, const CollTask& task)
    : what_(task.what),
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

void CollValues::fill(std::span<std::byte> input, std::span<std::byte> output) {
  ++fills_;
  const auto byte = static_cast<std::byte>(value_of(rank_));
  if (sums()) {
    auto* values = reinterpret_cast<double*>(input.data());
    std::fill_n(values, in(), static_cast<double>(value_of(rank_)));
  } else if (what_ != "bcast" || rank_ == 0) {
    std::fill(input.begin(), input.end(), byte);
  }
  if (what_ == "bcast" && rank_ + 1 == ranks_) std::fill(output.begin(), output.end(), byte);
}

void CollValues::read(std::span<const std::byte> input, std::span<const std::byte> output) const {
  if (what_ == "bcast") read_all(input);
  read_all(output);
}

template <class T>
bool CollValues::all_right(std::span<const std::byte> output) const {
  const auto* values = reinterpret_cast<const T*>(output.data());
  std::size_t sum = 0;
  for (std::size_t rank = 0; rank < ranks_; ++rank) sum += value_of(rank);
  for (std::size_t i = 0; i < out(); ++i) {
    const std::size_t expected = what_ == "bcast" ? value_of(ranks_ - 1)
                                 : sums()         ? sum
                                                  : value_of(i / count_);
    if (values[i] != static_cast<T>(expected)) return false;
  }
  return true;
}

bool CollValues::right(World& world, std::span<const std::byte> input,
                       std::span<const std::byte> output) const {
  bool mine = true;
  if (what_ != "barrier") mine = sums() ? all_right<double>(output) : all_right<unsigned char>(output);
  if (what_ == "bcast")
    mine &= std::all_of(input.begin(), input.end(),
                        [&](std::byte b) { return b == static_cast<std::byte>(value_of(0)); });
  return all_say(world, mine);
}

}  // namespace tca::bench
