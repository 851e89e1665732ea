// What a call says that it refuses.
#pragma once

#include <string>

#include "nvshmem/misuse.hpp"

namespace tca::nvshmem {

inline std::string message_of(const auto& call) {
  try {
    call();
  } catch (const Misuse& misuse) {
    return misuse.what();
  }
  return "none";
}

}  // namespace tca::nvshmem
