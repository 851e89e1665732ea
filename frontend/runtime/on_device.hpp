// What directives with `acc` do to memory of the device where only the host can: on a copy.
#pragma once

#include <cstring>
#include <vector>

#include "runtime/runtime.hpp"

namespace tca::xacc {

// The device's values in the host's memory, as long as this lives; what they have become goes back, and the host gets
// its own again.
class OnHost {
 public:
  OnHost(const char* name, void* host, std::size_t bytes);
  OnHost(const OnHost&) = delete;
  OnHost& operator=(const OnHost&) = delete;
  // Throws Error.
  void give_back();

 private:
  std::byte* host_;
  std::byte* device_;
  std::vector<std::byte> kept_;
};

// Whether `flags` ask for memory that is not the host's.
inline bool elsewhere(int flags) {
  return (flags & XACC_DEVICE) != 0 && Runtime::get().device().is_separate();
}

// Does something with values that are on the device if `flags` say so.
template <class Body>
void where_they_are(const char* name, void* values, std::size_t bytes, int flags, const Body& body) {
  if (!elsewhere(flags)) return body();
  OnHost copy(name, values, bytes);
  body();
  copy.give_back();
}

}  // namespace tca::xacc
