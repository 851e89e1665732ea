// A rank's lattice, links and fields in the order that kernels read (gpu_site.hpp), made on the host.
#pragma once

#include <cstdint>
#include <vector>

#include "qcd/field.hpp"
#include "qcd/gpu_site.hpp"
#include "qcd/links.hpp"

namespace tca::qcd {

// A field of `sites`, with as many right-hand sides as its size says, from the host's order and back.
template <class T>
void to_units(const Field<T>& field, std::size_t sites, std::vector<T>& units);
template <class T>
void from_units(const std::vector<T>& units, std::size_t sites, Field<T>& field);

// What Ground points to, and how large it is.
template <class T>
struct GroundTables {
  // Needs even local extents, as Lattice::require_even says.
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
