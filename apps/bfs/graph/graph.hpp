// The graph as a rank searches it, made of the list of edges: the benchmark's first kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bfs/graph/partition.hpp"
#include "bfs/problem.hpp"
#include "shared/workers.hpp"
#include "tca/world.hpp"

namespace tca::bfs {

// Lists of vertices, one behind the other.
struct Lists {
  std::vector<std::int64_t> begin;  // where each begins, and where the last ends
  std::vector<Vertex> vertex;

  std::span<const Vertex> of(std::size_t list) const {
    return {vertex.data() + begin[list], vertex.data() + begin[list + 1]};
  }
};

// Own vertices count from 0 on, as does room for some that do not exist, which have no neighbours.
struct Graph {
  Partition partition;
  int rank;

  // For each own vertex its neighbours: each once, whatever the number of edges, and never itself. Those that
  // have the most neighbours come first: a search from below most likely finds a parent among them.
  Lists neighbours;
  // The same edges for a search from above: for every vertex, whoever owns it, the own ones among its
  // neighbours.
  Lists own_neighbours;
  // For each own vertex how many ends the listed edges have there, the same edge's and both of an edge to
  // itself included.
  std::vector<std::int32_t> ends;

  std::vector<std::uint64_t> connected;  // a bitmap of all vertices: which have neighbours
  std::int64_t directed_edges;           // of all ranks together: neighbours of all vertices

  std::span<const std::uint64_t> own_connected() const {
    const auto words = static_cast<std::size_t>(partition.words());
    return std::span(connected).subspan(static_cast<std::size_t>(rank) * words, words);
  }
};

// Collective. `edges` is the part of the list that this rank has.
Graph make_graph(World& world, const Partition& partition, std::span<const Edge> edges,
                 const Progress& progress = {}, const apps::Workers& workers = {});

// Returns the bytes that a rank needs at most, the list of edges included, to generate, search and validate.
double bytes_to_make(const Problem& problem, int ranks);

}  // namespace tca::bfs
