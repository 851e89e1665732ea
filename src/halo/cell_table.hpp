// For kernels: which cells receive something from a fold, and where it is.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tca/device/fold.hpp"
#include "tca/layout.hpp"

namespace tca::halo {

class CellTable {
 public:
  // Adds cells, in the order in which arrivals for them are combined; these are in a row from `staged` on.
  void add(const Layout& cells, std::int64_t staged);

  // Returns the table in a row, as `view` expects it.
  std::vector<std::uint64_t> words() const;

  // Returns a field's view with a table at `words`; the field's own places are still to be filled in.
  DeviceFold view(const std::uint64_t* words) const;

 private:
  std::vector<std::pair<std::uint64_t, std::uint64_t>> all_;  // a cell, and what arrives for it
};

}  // namespace tca::halo
