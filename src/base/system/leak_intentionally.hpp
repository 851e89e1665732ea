// Leaks memory that can never be freed safely.
#pragma once

#include <memory>
#include <utility>

namespace tca::base {

// Keeps an object for the lifetime of the process and never destroys it. A device or another library may
// still read or write its memory, and never reports that it has finished. The operating system frees such
// memory once nothing can reach it.
template <class Object>
void leak_intentionally(Object object) {
  static_cast<void>(std::make_unique<Object>(std::move(object)).release());
}

}  // namespace tca::base
