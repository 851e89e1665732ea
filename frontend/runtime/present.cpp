#include "runtime/present.hpp"

#include <algorithm>

#include "runtime/images/images.hpp"
#include "runtime/runtime.hpp"

namespace tca::xacc {
namespace {

bool copies_in(int clause) { return clause == XACC_COPY || clause == XACC_COPYIN; }
bool copies_out(int clause) { return clause == XACC_COPY || clause == XACC_COPYOUT; }

}  // namespace

Present::~Present() {
  try {
    for (const Mapping& m : mappings_)
      if (m.own) device_.release(m.device);
  } catch (const Error&) {
    // The device has failed, and nobody waits for it any more.
  }
}

Mapping* Present::find(const void* address) {
  const auto* at = static_cast<const std::byte*>(address);
  for (Mapping& m : mappings_)
    if (at == m.host || (at > m.host && at < m.host + m.bytes)) return &m;
  for (Mapping& m : mappings_)
    if (m.variable == address) return &m;
  return nullptr;
}

bool Present::is_device(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  return std::any_of(mappings_.begin(), mappings_.end(),
                     [&](const Mapping& m) { return at >= m.device && at < m.device + m.bytes; });
}

std::string Present::known() const {
  std::string text;
  for (const Mapping& m : mappings_) text += (text.empty() ? "" : ", ") + m.name + " (" + m.where + ")";
  return text.empty() ? "nothing is" : "there are " + text;
}

Mapping& Present::require(const char* name, const void* host) {
  if (Mapping* mapping = find(host)) return *mapping;
  refuse(std::string(name) + " is not present on the device; " + known());
}

void* Present::address_of(const char* name, const void* host) {
  if (!find(host) && is_device(host)) return const_cast<void*>(host);  // within host_data
  const Mapping& mapping = require(name, host);
  return mapping.device + (static_cast<const std::byte*>(host) - mapping.host);
}

// What need not be allocated: a distributed array has a window on the device, and a coarray is where kernels reach it.
std::byte* Present::provided(std::byte* host) const {
  Runtime& runtime = Runtime::get();
  if (runtime.has_coarrays() && runtime.images().has(host)) return host;
  Storage* const storage = runtime.storage_at(host);
  return storage ? static_cast<std::byte*>(storage->on_device().data()) : nullptr;
}

void Present::enter(const xacc_item& item, std::int64_t queue, const xacc_place& at) {
  if (Mapping* mapping = find(item.address)) {
    ++mapping->count;
    return;
  }
  auto* host = static_cast<std::byte*>(item.address);
  if (item.clause == XACC_PRESENT) require(item.name, host);
  for (const Mapping& m : mappings_)
    if (m.host > host && m.host < host + item.bytes)
      refuse(std::string(item.name) + " is only partly on the device, where " + m.name + " (" + m.where +
             ") is: bring the larger one first");
  Mapping mapping{item.name, host, item.bytes,    std::string(at.file) + ":" + std::to_string(at.line),
                  1,         host, item.variable, false};
  if (device_.is_separate()) {
    if (item.bytes == 0)
      refuse(
          std::string(item.name) +
          " is a pointer to memory that is not on the device, and nothing says how long it is: name it as " +
          item.name + "[0:n]; " + known());
    mapping.device = provided(host);
    mapping.own = !mapping.device;
    if (mapping.own) mapping.device = static_cast<std::byte*>(device_.allocate(item.bytes));
    if (copies_in(item.clause) && mapping.device != host)
      device_.copy_to(mapping.device, host, item.bytes, queue);
  }
  mappings_.push_back(std::move(mapping));
  ++version_;
}

void Present::leave(const xacc_item& item, std::int64_t queue) {
  Mapping* mapping = find(item.address);
  if (!mapping || --mapping->count > 0) return;
  if (mapping->device == mapping->host)
    device_.wait(queue);
  else if (copies_out(item.clause))
    device_.copy_from(mapping->host, mapping->device, mapping->bytes, queue);
  if (mapping->own) device_.release(mapping->device);
  mappings_.erase(
      std::find_if(mappings_.begin(), mappings_.end(), [&](const Mapping& m) { return &m == mapping; }));
  ++version_;
}

void Present::update(const xacc_item& item, std::int64_t queue) {
  void* const device = address_of(item.name, item.address);
  if (device == item.address) return device_.wait(queue);
  if (item.clause == XACC_UPDATE_HOST)
    device_.copy_from(item.address, device, item.bytes, queue);
  else
    device_.copy_to(device, item.address, item.bytes, queue);
}

}  // namespace tca::xacc
