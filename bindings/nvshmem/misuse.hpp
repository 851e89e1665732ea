// What a call asks for that cannot be.
#pragma once

#include <stdexcept>

namespace tca::nvshmem {

class Misuse : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace tca::nvshmem
