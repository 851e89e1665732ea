// Brings the edges that ranks have drawn to the owners of their vertices.
#pragma once

#include <span>
#include <vector>

#include "bfs/graph/partition.hpp"
#include "bfs/problem.hpp"
#include "tca/world.hpp"

namespace tca::bfs {

// Collective. Returns what concerns this rank's vertices: each edge once for each of its ends, with the end
// that this rank owns first; an edge from a vertex to itself once.
std::vector<Edge> deliver(World& world, const Partition& partition, std::span<const Edge> edges,
                          const Progress& progress = {});

}  // namespace tca::bfs
