// A window as one rank knows it.
#pragma once

#include <cstdint>
#include <memory>

#include "core/world_state.hpp"

namespace tca::core {

class WindowState {
 public:
  WindowState(std::shared_ptr<WorldState> world, std::uint32_t id, std::unique_ptr<fabric::Memory> memory)
      : world_(std::move(world)), id_(id), memory_(std::move(memory)) {}
  WindowState(const WindowState&) = delete;
  ~WindowState() { world_->retire(id_, std::move(memory_)); }

  WorldState& world() const { return *world_; }
  std::uint32_t id() const { return id_; }
  fabric::Memory& memory() const { return *memory_; }
  std::size_t bytes(int rank) const { return memory_->bytes(rank); }

 private:
  std::shared_ptr<WorldState> world_;
  std::uint32_t id_;
  std::unique_ptr<fabric::Memory> memory_;
};

}  // namespace tca::core
