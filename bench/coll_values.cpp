#include "coll_values.hpp"

#include <algorithm>
#include <vector>

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

void CollValues::fill(std::span<std::byte> input, std::span<std::byte> output) const {
  const auto number = static_cast<std::byte>(rank_ + 1);
  if (sums()) {
    auto* values = reinterpret_cast<double*>(input.data());
    std::fill_n(values, in(), static_cast<double>(rank_ + 1));
  } else if (what_ != "bcast" || rank_ == 0) {
    std::fill(input.begin(), input.end(), number);
  }
  if (what_ == "bcast" && rank_ + 1 == ranks_) std::fill(output.begin(), output.end(), number);
}

void CollValues::read(std::span<const std::byte> input, std::span<const std::byte> output) const {
  if (what_ == "bcast") read_all(input);
  read_all(output);
}

template <class T>
bool CollValues::all_right(std::span<const std::byte> output) const {
  const auto* values = reinterpret_cast<const T*>(output.data());
  for (std::size_t i = 0; i < out(); ++i) {
    const std::size_t expected = what_ == "bcast" ? ranks_
                                 : sums()         ? ranks_ * (ranks_ + 1) / 2
                                                  : i / count_ + 1;
    if (values[i] != static_cast<T>(expected)) return false;
  }
  return true;
}

bool CollValues::right(World& world, std::span<const std::byte> input,
                       std::span<const std::byte> output) const {
  bool mine = true;
  if (what_ != "barrier") mine = sums() ? all_right<double>(output) : all_right<unsigned char>(output);
  if (what_ == "bcast")
    mine &= std::all_of(input.begin(), input.end(), [](std::byte b) { return b == std::byte{1}; });
  const std::vector<char> all = world.all_gather(static_cast<char>(mine));
  return std::all_of(all.begin(), all.end(), [](char right) { return right != 0; });
}

}  // namespace tca::bench
