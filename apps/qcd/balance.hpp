// What a machine's network must carry so that exchanging faces takes as long as applying Wilson's operator, and no longer:
// the balance at which overlap is perfect. By counts alone: 1,320 operations a site, and a spin-projected half of 12 reals
// for each site of a face that another node needs. The model is that of Babich and Gottlieb, as P. Vicini shows it (ACAT
// 2013).
#pragma once

#include <cstdint>

#include "qcd/lattice.hpp"

namespace tca::qcd {

struct Balance {
  Extents node;        // sites of a node
  Extents nodes;       // along each dimension
  std::int64_t faces;  // sites of the faces that a node sends
  double bytes;        // that a node sends while it applies the operator once
  double us;           // that its GPUs take for this
  double gb_per_s() const { return bytes / us * 1e-3; }
};

// A node has `gpus` side by side in time, each with `domain` of the lattice `global` and `gflops` of sustained speed. Throws
// Error{invalid_argument} where nodes do not divide the lattice, which names the extents.
Balance balance_of(const Extents& global, const Extents& domain, int gpus, double gflops, int bytes_of_real);

// The sites of the faces that a node with so many sites sends, where there are `nodes`.
std::int64_t sent_sites(const Extents& node, const Extents& nodes);

}  // namespace tca::qcd
