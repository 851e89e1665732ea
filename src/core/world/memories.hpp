// A window's memory as each fabric sees it.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "fabric/fabric.hpp"

namespace tca::core {

// One memory for each fabric; null for a fabric that cannot reach the window. The first fabric that reaches
// it may own the memory, so its part is destroyed last.
class Memories {
 public:
  explicit Memories(std::vector<std::unique_ptr<fabric::Memory>> by_fabric)
      : by_fabric_(std::move(by_fabric)) {}
  Memories(const Memories&) = delete;
  ~Memories() {
    while (!by_fabric_.empty()) by_fabric_.pop_back();
  }
  fabric::Memory* of(std::size_t fabric) const { return by_fabric_[fabric].get(); }
  fabric::Memory& last() const { return *by_fabric_.back(); }

 private:
  std::vector<std::unique_ptr<fabric::Memory>> by_fabric_;
};

}  // namespace tca::core
