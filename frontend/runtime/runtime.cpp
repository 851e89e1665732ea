#include "runtime/runtime.hpp"

#include <algorithm>
#include <numeric>

#include "runtime/check/checks.hpp"
#include "runtime/images/images.hpp"

namespace tca::xacc {

Runtime::Runtime(World world, std::unique_ptr<Device> device)
    : world_(std::move(world)), device_(std::move(device)), present_(*device_) {
  std::vector<int> all(static_cast<std::size_t>(world_.size()));
  std::iota(all.begin(), all.end(), 0);
  stack_.push_back(std::move(all));
  if (is_checked_) checks_ = std::make_unique<Checks>();
}

// What is still in queues uses the world's memory.
Runtime::~Runtime() {
  try {
    device_->wait_all();
  } catch (const Error&) {
    // The device has failed, and what it would have done is lost anyway.
  }
}

Images& Runtime::images() {
  if (!images_) images_ = std::make_unique<Images>(world_);
  return *images_;
}

bool Runtime::has_coarrays() const { return images_ && images_->has_coarrays(); }

void Runtime::meet(const std::vector<int>& ranks) {
  if (has_coarrays()) images_->meet(ranks);
}

Group& Runtime::executing() { return group(stack_.back()); }

Group& Runtime::group(const std::vector<int>& ranks) {
  auto& slot = groups_[ranks];
  if (slot) return *slot;
  const auto me = std::find(ranks.begin(), ranks.end(), world_.rank());
  if (me == ranks.end()) {
    groups_.erase(ranks);
    refuse("rank " + std::to_string(world_.rank()) + " is none of those that this directive concerns");
  }
  auto made =
      std::make_unique<Group>(Group{ranks, std::nullopt, &world_, static_cast<int>(me - ranks.begin())});
  if (ranks != stack_.front()) {
    made->own.emplace(world_.group(ranks));
    made->world = &*made->own;
  }
  slot = std::move(made);
  return *slot;
}

Storage& Runtime::allocate(std::size_t element_bytes, std::int64_t capacity, const std::string& name) {
  meet(stack_.back());
  Group* group = &executing();
  for (const auto& s : storages_) {
    if (s->used || s->element_bytes != element_bytes || s->capacity != capacity || s->group != group)
      continue;
    s->used = true;
    return *s;
  }
  raw::Window window = raw::Window::on_host(*group->world, capacity, element_bytes, name);
  storages_.push_back(std::make_unique<Storage>(Storage{std::move(window), element_bytes, capacity, group}));
  if (device_->is_separate())
    storages_.back()->device.emplace(*group->world, capacity, element_bytes, name + " on the device");
  return *storages_.back();
}

Storage* Runtime::storage_at(const void* address) {
  for (const auto& s : storages_)
    if (s->used && s->window.data() == address) return s.get();
  return nullptr;
}

}  // namespace tca::xacc
