// A number for each rank of a world. Copies share the numbers: a process may hold many ranks, and each has
// a copy.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace tca::control {

class PerRank {
 public:
  PerRank(std::vector<int> numbers = {})
      : numbers_(std::make_shared<const std::vector<int>>(std::move(numbers))) {}

  operator const std::vector<int>&() const { return *numbers_; }
  int operator[](std::size_t rank) const { return (*numbers_)[rank]; }
  std::size_t size() const { return numbers_->size(); }
  bool empty() const { return numbers_->empty(); }
  auto begin() const { return numbers_->begin(); }
  auto end() const { return numbers_->end(); }

 private:
  std::shared_ptr<const std::vector<int>> numbers_;
};

}  // namespace tca::control
