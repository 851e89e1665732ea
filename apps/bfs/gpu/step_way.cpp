// A search level by level, as on hosts, of which the host asks after each level whether it has ended.
#include <array>
#include <optional>
#include <utility>

#include "bfs/gpu/exchange.hpp"
#include "bfs/gpu/way.hpp"
#include "tca/window.hpp"

namespace tca::bfs {

using namespace apps;

namespace {

// The vertices that a level has reached, on all ranks. Two take turns; see Sending.
struct GpuFrontier {
  Window<std::uint64_t> bits, reached;

  GpuFrontier(World& world, const Partition& partition)
      : bits(world.window<std::uint64_t>(partition.all_words(), "frontier")),
        reached(world.window<std::uint64_t>(partition.ranks(), "reached")) {}

  Sending sending(const Partition& partition) const {
    return {.message = Message::out,
            .to_all = true,
            .parts = {{bits.untyped(), partition.words()}, {reached.untyped(), 1}}};
  }
  Word* words() const { return reinterpret_cast<Word*>(bits.data()); }
};

std::array<Sending, 2> sendings(const std::array<GpuFrontier, 2>& frontiers, const Partition& partition) {
  return {frontiers[0].sending(partition), frontiers[1].sending(partition)};
}

class StepWay : public GpuWay {
 public:
  StepWay(World& world, const GpuGraph& graph, MakeExchange* make)
      : world_(world),
        graph_(graph),
        frontiers_{GpuFrontier(world, graph.on_host().partition),
                   GpuFrontier(world, graph.on_host().partition)},
        exchange_(make(world, sendings(frontiers_, graph.on_host().partition))),
        own_(graph) {
    for (std::size_t turn = 0; turn < 2; ++turn) steps_[turn] = make_step(turn);
    world.barrier();
  }

  bool can_send() const { return exchange_ != nullptr; }

  void capture() {
    for (std::size_t turn = 0; turn < 2; ++turn)
      graphs_[turn].emplace(world_, stream_.get(), [this, turn] { enqueue_level(turn); });
  }

  int run(Vertex root) override {
    cuda_ok(launch_begin(steps_[turn_], root, stream_.get()), "beginning a search");
    const Progressed& told = *told_.data();
    do {
      if (graphs_[turn_]) {
        graphs_[turn_]->launch();
      } else {
        enqueue_level(turn_);
      }
      stream_.synchronize("searching a level");
      world_.check();
      turn_ = 1 - turn_;
    } while (told.ended == 0);
    return static_cast<int>(told.levels);
  }

  std::span<const Vertex> parents() override {
    own_.read_parents(parents_, stream_);
    return parents_;
  }

  std::string explain(Message message) const override { return exchange_->explain(message); }

 private:
  // Of a level that is searched from this frontier.
  Step make_step(std::size_t turn) const {
    const GpuFrontier& next = frontiers_[1 - turn];
    Step step{.graph = graph_.arrays(),
              .frontier = frontiers_[turn].words(),
              .next = {},
              .reached = next.reached.data(),
              .rank = static_cast<Word>(world_.rank()),
              .ranks = static_cast<Word>(world_.size()),
              .own = own_.arrays(),
              .progressed = progressed_.data(),
              .told = told_.data()};
    step.next.parts[0] = next.words();
    return step;
  }

  void enqueue_level(std::size_t turn) {
    cuda_ok(launch_level(steps_[turn], graph_.grid(), stream_.get()), "starting a level");
    exchange_->send(1 - turn, stream_.get());
    cuda_ok(launch_conclude(steps_[turn], stream_.get()), "ending a level");
  }

  World& world_;
  const GpuGraph& graph_;
  std::array<GpuFrontier, 2> frontiers_;
  std::unique_ptr<GpuExchange> exchange_;
  GpuVertices own_;
  DeviceArray<Progressed> progressed_{1};
  PinnedArray<Progressed> told_{1};
  std::array<Step, 2> steps_{};
  std::size_t turn_ = 0;  // from which frontier the next level is searched
  std::vector<Vertex> parents_;
  // Destroyed first, so that nothing runs any more when the memory goes.
  OwnStream stream_;
  std::array<std::optional<apps::Graph>, 2> graphs_;
};

}  // namespace

std::unique_ptr<GpuWay> step_way(World& world, const GpuGraph& graph, MakeExchange* make, Start start) {
  auto way = std::make_unique<StepWay>(world, graph, make);
  if (!way->can_send()) return nullptr;
  if (start == Start::graph) way->capture();
  return way;
}

}  // namespace tca::bfs
