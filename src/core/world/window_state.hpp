// A window as one rank sees it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/world/world_state.hpp"

namespace tca::core {

class WindowState {
 public:
  WindowState(std::shared_ptr<WorldState> world, std::uint32_t id, std::shared_ptr<Memories> memories,
              std::size_t element_bytes)
      : world_(std::move(world)), id_(id), element_bytes_(element_bytes), memories_(std::move(memories)) {
    while (memories_->of(first_) == nullptr) ++first_;
  }
  WindowState(const WindowState&) = delete;
  ~WindowState() { world_->retire(id_, std::move(memories_)); }

  // A handle's state, and a state's handle.
  static const std::shared_ptr<WindowState>& of(const raw::Window& window) { return window.state_; }
  static raw::Window handle(std::shared_ptr<WindowState> state) { return raw::Window(std::move(state)); }

  WorldState& world() const { return *world_; }
  std::uint32_t id() const { return id_; }
  // What messages call it.
  std::string title() const { return world_->window_title(id_); }
  std::size_t element_bytes() const { return element_bytes_; }
  fabric::Memory& memory() const { return *memories_->of(first_); }
  fabric::Memory* memory_of(std::size_t fabric) const { return memories_->of(fabric); }
  const std::shared_ptr<Memories>& memories() const { return memories_; }
  std::size_t first_fabric() const { return first_; }
  // The last fabric reaches every rank.
  std::size_t bytes(int rank) const { return memories_->last().bytes(rank); }

 private:
  std::shared_ptr<WorldState> world_;
  std::uint32_t id_;
  std::size_t element_bytes_;
  std::shared_ptr<Memories> memories_;
  std::size_t first_ = 0;  // the first fabric that reaches it
};

}  // namespace tca::core
