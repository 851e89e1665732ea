// What a fabric knows about failed parts of the machine.
#pragma once

#include <vector>

#include "tca/fault.hpp"

namespace tca::fabric {

class FaultNews {
 public:
  virtual ~FaultNews() = default;
  // Returns what this rank has been told so far, in the order in which it happened.
  virtual std::vector<KnownFault> known_faults() const = 0;
};

}  // namespace tca::fabric
