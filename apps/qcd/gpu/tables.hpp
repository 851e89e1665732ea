// GroundTables holds a rank's lattice and links in the order in which kernels read them (gpu/site.hpp). It is
// made on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "qcd/field.hpp"
#include "qcd/gpu/site.hpp"
#include "qcd/links.hpp"

namespace tca::qcd {

// The arrays that Ground points to, and their sizes.
template <class T>
struct GroundTables {
  // Throws what Lattice::require_even throws. The gauge field's ghosts must be up to date.
  GroundTables(const Gauge& gauge, Storage storage, bool antiperiodic);

  // Its pointers are not set.
  Ground<T> ground;
  std::vector<T> links;
  std::vector<float> time_sign;
  std::vector<std::int32_t> next;
  // The chunks of each parity, those without ghosts first, and the number of those.
  std::vector<std::int32_t> order[2];
  Word interior[2] = {};
};

}  // namespace tca::qcd
