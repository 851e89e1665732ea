// The search with the messages of T. Kaneda et al., "Performance Evaluation of PEACH3", HEART 2017: every
// level from below, by an integer for each vertex.
#include <algorithm>

#include "bfs/search.hpp"

namespace tca::bfs {

namespace {

// What a level has reached: those whose stamp is the level's. Stamps never come again, not even in further
// searches, so nothing has to be cleared.
struct StampedFrontier {
  Window<std::int32_t> stamps;  // of all vertices
  Window<std::int32_t> flags;   // of each rank: whether it has reached any

  StampedFrontier(World& world, const Partition& partition)
      : stamps(world.window<std::int32_t>(partition.room(), "stamps")),
        flags(world.window<std::int32_t>(partition.ranks(), "flags")) {}

  Sending out(const Partition& partition) const {
    return {.message = Message::out, .to_all = true, .parts = {{stamps.untyped(), partition.each()}}};
  }
  Sending flag() const { return {.message = Message::flag, .to_all = true, .parts = {{flags.untyped(), 1}}}; }
};

class PaperSearch : public Search {
 public:
  PaperSearch(World& world, const Graph& graph)
      : Search(world, graph),
        frontiers_{StampedFrontier(world, graph.partition), StampedFrontier(world, graph.partition)},
        collected_(world.window<std::int64_t>(
            graph.rank == 0 ? graph.partition.room() : graph.partition.each(), "tree")) {
    for (const StampedFrontier& frontier : frontiers_) sendings_.push_back(frontier.out(graph.partition));
    for (const StampedFrontier& frontier : frontiers_) sendings_.push_back(frontier.flag());
    sendings_.push_back({.message = Message::tree,
                         .to_all = false,
                         .parts = {{collected_.untyped(), graph.partition.each()}}});
  }

  int run(Vertex root, Exchange& exchange, MessageTimes* times) override {
    tree_.begin(root);
    frontiers_[turn_].stamps[root] = ++stamp_;
    for (int levels = 0;; ++levels) {
      const std::size_t next = 1 - turn_;
      frontiers_[next].flags[graph_.rank] = search_level(next) ? 1 : 0;
      send(Message::out, next, exchange, times);
      send(Message::flag, first_flag + next, exchange, times);
      turn_ = next;
      ++stamp_;
      if (!std::ranges::any_of(frontiers_[turn_].flags, [](std::int32_t flag) { return flag != 0; })) {
        collect(exchange, times);
        return levels;
      }
    }
  }

  std::span<const std::int64_t> collected() const override {
    return graph_.rank == 0 ? collected_.elements() : std::span<const std::int64_t>();
  }

 private:
  static constexpr std::size_t first_flag = 2, tree = 4;  // among the sendings

  bool search_level(std::size_t next) {
    const std::int32_t* const frontier = frontiers_[turn_].stamps.data();
    std::int32_t* const own = frontiers_[next].stamps.data() + own_vertex();
    const std::int64_t looked_at = tree_.looked_at();
    const Reached reached =
        tree_.from_below([&](Vertex vertex) { return frontier[vertex] == stamp_; },
                         [&](std::size_t word, std::uint64_t bits) {
                           for_each_vertex({&bits, 1}, [&](Vertex in_word) {
                             own[word * Partition::in_word + static_cast<std::size_t>(in_word)] = stamp_ + 1;
                           });
                         });
    computed(looked_at, static_cast<double>(reached.vertices) * sizeof(std::int32_t));
    return reached.vertices > 0;
  }

  void collect(Exchange& exchange, MessageTimes* times) {
    std::ranges::copy(tree_.parents(), collected_.data());
    world_.compute(static_cast<double>(tree_.parents().size()) * (sizeof(Vertex) + sizeof(std::int64_t)), 0);
    send(Message::tree, tree, exchange, times);
  }

  std::array<StampedFrontier, 2> frontiers_;
  Window<std::int64_t> collected_;  // this rank's parents; on rank 0 those of the others behind them
  std::size_t turn_ = 0;            // which frontier the next level is searched from
  std::int32_t stamp_ = 0;          // of that
};

}  // namespace

std::unique_ptr<Search> paper_search(World& world, const Graph& graph) {
  return std::make_unique<PaperSearch>(world, graph);
}

}  // namespace tca::bfs
