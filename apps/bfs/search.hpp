// Breadth-first search over all ranks, level by level: the benchmark's second kernel.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "bfs/graph/graph.hpp"
#include "bfs/messages/exchange.hpp"
#include "bfs/tree.hpp"
#include "tca/world.hpp"

namespace tca::bfs {

// How long each message took this rank, in microseconds, one value for each time that it was sent.
using MessageTimes = std::array<std::vector<double>, messages.size()>;

class Search {
 public:
  Search(World& world, const Graph& graph) : world_(world), graph_(graph), tree_(graph) {}
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  virtual ~Search() = default;

  // What is sent, for whoever makes an exchange.
  std::span<const Sending> sendings() const { return sendings_; }

  // Collective. Finds all that can be reached from the root, and returns how many levels there are below it.
  // Adds the times of the messages to `times`, if given. Between searches by different exchanges there must
  // be a barrier: only sendings by the same one take turns with each other.
  virtual int run(Vertex root, Exchange& exchange, MessageTimes* times = nullptr) = 0;

  // The result of the last run: for each own vertex its parent, or `nowhere`.
  std::span<const Vertex> parents() const { return tree_.parents(); }

  // The parents of all vertices, on rank 0, where they are sent there; otherwise nothing.
  virtual std::span<const std::int64_t> collected() const { return {}; }

 protected:
  void send(Message message, std::size_t which, Exchange& exchange, MessageTimes* times);

  // Tells a modelled machine what a level reads and writes: the neighbours that were looked at since
  // `looked_at`, where they stand in the frontier, and `bytes` besides.
  void computed(std::int64_t looked_at, double bytes);

  // Where the block of this rank begins in the arrays that all ranks have.
  std::int64_t own_word() const { return graph_.rank * graph_.partition.words(); }
  std::int64_t own_vertex() const { return graph_.partition.first(graph_.rank); }

  World& world_;
  const Graph& graph_;
  Tree tree_;
  std::vector<Sending> sendings_;
};

// Collective.
std::unique_ptr<Search> packed_search(World& world, const Graph& graph);
std::unique_ptr<Search> paper_search(World& world, const Graph& graph);
inline std::unique_ptr<Search> make_search(World& world, const Graph& graph, Style style) {
  return style == Style::packed ? packed_search(world, graph) : paper_search(world, graph);
}

// Returns how many edges of the list are in the component that the last search went through: the number that
// the benchmark divides by the time. Collective.
std::int64_t edges_traversed(World& world, const Graph& graph, std::span<const Vertex> parents);

}  // namespace tca::bfs
