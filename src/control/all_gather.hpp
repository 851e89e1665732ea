// One exchange of bytes among ranks, which the waiting rank moves on itself, so that it can say who is missing.
#pragma once

#include <cstdint>
#include <vector>

#include "base/codec.hpp"

namespace tca::control {

class AllGather {
 public:
  virtual ~AllGather() = default;

  // Moves the exchange on. Returns whether everything has come, and whether what this rank brought has gone.
  virtual bool advance() = 0;

  // Returns the ranks, as those of the exchange are numbered, whose bytes have not come.
  virtual std::vector<int> missing() const = 0;

  // Returns what each rank brought, once `advance` has returned true.
  virtual std::vector<base::Blob> take() = 0;
};

// Some ranks of a control plane, in the order in which they are numbered among themselves, and a number that no
// other set of ranks has that meets at the same time.
struct Subset {
  std::vector<int> ranks;
  std::uint64_t key = 0;
  std::uint64_t exchanges = 0;  // that they have begun; the same on each of them
};

}  // namespace tca::control
