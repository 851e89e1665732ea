// Validates a search by the specification's rules. It knows nothing of how the search was done: it reads the
// list of edges and the parents that the search has found.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bfs/graph/partition.hpp"
#include "bfs/problem.hpp"
#include "tca/coll.hpp"
#include "tca/world.hpp"

namespace tca::bfs {

// The specification's rules by their numbers, and one about what the benchmark counts. Rule 2, that a vertex
// is one level below its parent, holds here by what a level is: how many parents lead from a vertex to the
// root.
enum class Rule : std::int32_t {
  tree = 1,          // parents lead to the root, and nowhere in a circle
  listed_edges = 3,  // the ends of an edge of the list are at most one level apart, or neither is in the tree
  component,         // the tree has all vertices of the root's component
  parents,           // an edge of the list joins a vertex and its parent
  edges_counted,     // what is divided by the time are the edges of the component
};

// What is wrong, and at which edge: of the tree, from a vertex to its parent, or of the list. Without a level
// where an end has none.
struct Fault {
  Rule rule;
  Vertex from, to;
  std::int32_t from_level, to_level;
  std::int64_t found, expected;  // edges, where they were counted wrongly

  std::string describe() const;
};

class Validator {
 public:
  // Collective. `edges` is the part of the list that this rank has.
  Validator(World& world, const Partition& partition, std::span<const Edge> edges);

  // Collective. Checks the parents of this rank's vertices, and the number of edges that the search was
  // credited with. Returns the same on every rank: nothing, or the first fault that it meets.
  std::optional<Fault> check(Vertex root, std::span<const Vertex> parents, std::int64_t edges_counted);

 private:
  std::optional<Fault> find_levels(Vertex root);
  std::optional<Fault> find_level(Vertex vertex, std::vector<Vertex>& path);
  std::optional<Fault> check_listed(const Edge& edge) const;
  std::optional<Fault> check_list(std::int64_t edges_counted);
  std::optional<Fault> check_parents(Vertex root);
  void join_all();
  void mark_if_joined(Vertex vertex, Vertex other);
  std::optional<Fault> first_of_all(const std::optional<Fault>& own);
  Fault fault(Rule rule, Vertex from, Vertex to) const;

  Vertex parent(Vertex vertex) const { return parents_[static_cast<std::size_t>(vertex)]; }
  std::int32_t level(Vertex vertex) const;

  World& world_;
  Partition partition_;
  std::span<const Edge> edges_;
  AllGather<Vertex> gather_parents_;  // in windows, which may be on GPUs
  AllGather<std::uint64_t> gather_joined_;
  std::vector<Vertex> parents_;        // of all vertices
  std::vector<std::uint64_t> joined_;  // a bitmap: an edge of the list joins the vertex and its parent
  std::vector<std::int32_t> levels_;   // of all vertices
};

}  // namespace tca::bfs
