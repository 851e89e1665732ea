// The problem of BFS: breadth-first searches of a large random graph, as Graph500 defines them (benchmark 1,
// "Search", version 2.0 of the specification, graph500.org).
#pragma once

#include <cstdint>
#include <functional>

namespace tca::bfs {

using Vertex = std::int32_t;  // a label, from 0 on
inline constexpr Vertex nowhere = -1;

struct Edge {
  Vertex from, to;  // of an edge without a direction, in no particular order
};

// The smallest graph is one word of a bitmap; in the largest, labels are 31 bits.
inline constexpr int smallest_scale = 6, largest_scale = 31;

struct Problem {
  int scale;             // the binary logarithm of the number of vertices
  int edge_factor = 16;  // edges by vertices, of the specification
  std::uint64_t seed = 1;

  std::int64_t vertices() const { return std::int64_t{1} << scale; }
  std::int64_t edges() const { return edge_factor * vertices(); }
};

// What ranks tell each other, and so how they search.
enum class Style {
  packed,  // OUT: the reached vertices as a bitmap, and how many there are; from above or from below
  paper    // as the publication on PEACH3: OUT of an integer for each vertex, FLAG, and TREE; from below only
};

// Called now and then with how far the work called `what` has come.
using Progress = std::function<void(const char* what, std::int64_t done, std::int64_t total)>;

}  // namespace tca::bfs
