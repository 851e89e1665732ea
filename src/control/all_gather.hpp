// One exchange of bytes among ranks, which the waiting rank drives itself, so that it can tell who is
// missing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/codec.hpp"

namespace tca::control {

class AllGather {
 public:
  virtual ~AllGather() = default;

  // Advances the exchange. Returns whether everything has arrived, and everything that this rank
  // contributed has been sent.
  virtual bool advance() = 0;

  // Returns the ranks, numbered as in the exchange, whose bytes have not arrived.
  virtual std::vector<int> missing() const = 0;

  // Returns what each rank contributed, once `advance` has returned true.
  virtual std::vector<base::Blob> take() = 0;
};

// Some ranks of a control plane, in the order of their numbers among themselves, and a number that no other
// set of ranks meeting at the same time has.
struct Subset {
  std::vector<int> ranks;
  std::uint64_t key = 0;
  std::uint64_t exchanges = 0;  // that they have begun; the same on each of them
};

}  // namespace tca::control
