// What a handle does after it was moved from. Programs do not name it.
#pragma once

#include "tca/detail/api.hpp"
#include "tca/detail/language.hpp"

namespace tca::core {

// Throws Error{invalid_argument}: the handle, a `what`, was moved from.
[[noreturn]] TCA_API void fail_moved_from(const char* what);

// Returns the state that a handle points to. Throws Error{invalid_argument} if the handle was moved from.
template <class Pointer>
auto& present(const Pointer& state, const char* what) {
  if (state == nullptr) [[unlikely]]
    fail_moved_from(what);
  return *state;
}

}  // namespace tca::core
