// Memory that can never be freed safely.
#pragma once

#include <memory>
#include <utility>

namespace tca::base {

// Keeps an object as long as the process, without ever destroying it. Memory that a device or another library
// may still read or write, and that it never says to be through with, is freed by the system once nobody can
// reach it.
template <class Object>
void leave_to_process(Object object) {
  static_cast<void>(std::make_unique<Object>(std::move(object)).release());
}

}  // namespace tca::base
