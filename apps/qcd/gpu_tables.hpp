// A rank's lattice, links and fields in the order that kernels read (gpu_site.hpp), made on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "qcd/field.hpp"
#include "qcd/gpu_site.hpp"
#include "qcd/links.hpp"

namespace tca::qcd {

// What Ground points to, and how large it is.
template <class T>
struct GroundTables {
  // Needs even local extents, as Lattice::require_even says. The gauge field's ghosts must be up to date.
  GroundTables(const Gauge& gauge, Storage storage, bool antiperiodic);

  // Without its pointers.
  Ground<T> ground;
  std::vector<T> links;
  std::vector<float> time_sign;
  std::vector<std::int32_t> next;
  // Chunks of a parity, those without ghosts first, and how many of these there are.
  std::vector<std::int32_t> order[2];
  Word interior[2] = {};
};

}  // namespace tca::qcd
