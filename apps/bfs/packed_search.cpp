// The search with one message a level. The frontier is a bitmap, of which every rank has all, so that a level
// needs nothing else, whether it is searched from above or from below; the numbers that tell where to search
// the next one from, and whether there is one, travel with it.
#include <algorithm>

#include "bfs/direction.hpp"
#include "bfs/search.hpp"

namespace tca::bfs {

namespace {

// What a level has reached, on all ranks.
struct Frontier {
  Window<std::uint64_t> bits;  // of all vertices
  Window<Reached> reached;     // of each rank

  Frontier(World& world, const Partition& partition)
      : bits(world.window<std::uint64_t>(partition.all_words(), "frontier")),
        reached(world.window<Reached>(partition.ranks(), "reached")) {}

  Sending sending(const Partition& partition) const {
    return {.message = Message::out,
            .to_all = true,
            .parts = {{bits.untyped(), partition.words()}, {reached.untyped(), 1}}};
  }

  Reached sum() const {
    Reached all;
    for (const Reached& one : reached) {
      all.vertices += one.vertices;
      all.neighbours += one.neighbours;
    }
    return all;
  }

  bool contains(Vertex vertex) const { return (bits[word_of(vertex)] & bit_of(vertex)) != 0; }
};

class PackedSearch : public Search {
 public:
  PackedSearch(World& world, const Graph& graph)
      : Search(world, graph), frontiers_{Frontier(world, graph.partition), Frontier(world, graph.partition)} {
    for (const Frontier& frontier : frontiers_) sendings_.push_back(frontier.sending(graph.partition));
  }

  int run(Vertex root, Exchange& exchange, MessageTimes* times) override {
    begin(root);
    Direction direction(graph_.partition.vertices(), graph_.directed_edges);
    for (int levels = 0;; ++levels) {
      const std::size_t next = 1 - turn_;
      frontiers_[next].reached[graph_.rank] = search_level(direction.is_from_below(), next);
      send(Message::out, next, exchange, times);
      turn_ = next;
      const Reached reached = frontiers_[turn_].sum();
      if (reached.are_last()) return reached.vertices == 0 ? levels : levels + 1;
      direction.after(reached);
    }
  }

 private:
  // Nobody writes to the frontier that the last search ended with before this rank has sent the other one.
  void begin(Vertex root) {
    tree_.begin(root);
    const Frontier& frontier = frontiers_[turn_];
    std::ranges::fill(frontier.bits.elements(), 0);
    frontier.bits[word_of(root)] |= bit_of(root);
  }

  Reached search_level(bool is_from_below, std::size_t next) {
    const Frontier& frontier = frontiers_[turn_];
    const std::span<std::uint64_t> own = frontiers_[next].bits.elements().subspan(
        static_cast<std::size_t>(own_word()), static_cast<std::size_t>(graph_.partition.words()));
    const std::int64_t looked_at = tree_.looked_at();
    const Reached reached =
        is_from_below ? tree_.from_below([&](Vertex vertex) { return frontier.contains(vertex); },
                                         [&](std::size_t word, std::uint64_t bits) { own[word] = bits; })
                      : tree_.from_above(frontier.bits.elements(), own);
    computed(looked_at, static_cast<double>(own.size_bytes() + frontier.bits.elements().size_bytes()));
    return reached;
  }

  std::array<Frontier, 2> frontiers_;
  std::size_t turn_ = 0;  // which of them the next level is searched from
};

}  // namespace

std::unique_ptr<Search> packed_search(World& world, const Graph& graph) {
  return std::make_unique<PackedSearch>(world, graph);
}

}  // namespace tca::bfs
