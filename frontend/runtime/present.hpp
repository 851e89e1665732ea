// What is on the device: which memory of the host has a part there, and who brought it.
#pragma once

#include <deque>
#include <string>

#include "runtime/device.hpp"

namespace tca::xacc {

struct Mapping {
  std::string name;
  std::byte* host;
  std::size_t bytes;
  std::string where;  // file:line of the directive that brought it
  int count;          // of the regions and `enter data` that it is in
  std::byte* device;
  const void* variable;  // whose section this is
  bool own;              // whether the memory was allocated for it
};

class Present {
 public:
  explicit Present(Device& device) : device_(device) {}
  ~Present();

  // Brings what an item names, where it is not there yet. Throws Error where only part of it is, and where the
  // clause says that it must be there.
  void enter(const xacc_item& item, std::int64_t queue, const xacc_place& at);
  void leave(const xacc_item& item, std::int64_t queue);
  void update(const xacc_item& item, std::int64_t queue);

  Mapping* find(const void* address);
  // The device's address of memory of the host. Throws Error that lists what is there.
  void* address_of(const char* name, const void* host);
  // Throws Error that lists what is there, unless it is.
  Mapping& require(const char* name, const void* host);
  // Another one whenever something comes or goes.
  std::uint64_t version() const { return version_; }

  bool is_device(const void* address) const;

 private:
  std::string known() const;
  std::byte* provided(std::byte* host) const;

  Device& device_;
  std::deque<Mapping> mappings_;
  std::uint64_t version_ = 1;
};

}  // namespace tca::xacc
