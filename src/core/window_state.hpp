// A window as one rank knows it.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/world_state.hpp"

namespace tca::core {

class WindowState {
 public:
  // `memories`: as each fabric of the world knows the same bytes; empty where one cannot reach them.
  WindowState(std::shared_ptr<WorldState> world, std::uint32_t id,
              std::vector<std::unique_ptr<fabric::Memory>> memories)
      : world_(std::move(world)), id_(id), memories_(std::move(memories)) {
    while (memories_[first_] == nullptr) ++first_;
  }
  WindowState(const WindowState&) = delete;
  // The fabric that came first may own the memory, so its part is the last to go.
  ~WindowState() {
    for (std::size_t i = memories_.size(); i-- > 0;)
      if (memories_[i] != nullptr) world_->retire(id_, std::move(memories_[i]));
  }

  WorldState& world() const { return *world_; }
  std::uint32_t id() const { return id_; }
  fabric::Memory& memory() const { return *memories_[first_]; }
  fabric::Memory* memory_of(std::size_t fabric) const { return memories_[fabric].get(); }
  std::size_t first_fabric() const { return first_; }
  // The last fabric reaches every rank.
  std::size_t bytes(int rank) const { return memories_.back()->bytes(rank); }

 private:
  std::shared_ptr<WorldState> world_;
  std::uint32_t id_;
  std::vector<std::unique_ptr<fabric::Memory>> memories_;  // by fabric
  std::size_t first_ = 0;                                  // the first fabric that reaches it
};

}  // namespace tca::core
