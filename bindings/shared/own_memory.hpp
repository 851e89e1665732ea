// Memory that a binding gives away, on a rank's device or its host.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "tca/post.hpp"
#include "tca/world.hpp"

namespace tca::bindings {

class OwnMemory {
 public:
  enum class Where { device, host };

  // Zeroed bytes. Where ranks drive no devices, both are the host.
  OwnMemory(World& world, std::size_t bytes, Where where) {
    const Count count(static_cast<std::int64_t>(bytes));
    if (where == Where::device || world.device_name().empty()) {
      region_.emplace(world, count);
      return;
    }
    host_ = std::make_unique<std::byte[]>(bytes);
    region_.emplace(world, host_.get(), count);
  }

  const Region& region() const { return *region_; }

 private:
  std::unique_ptr<std::byte[]> host_;  // outlives the region, which cannot be made of nothing
  std::optional<Region> region_;
};

}  // namespace tca::bindings
