// A search level by level, as on hosts, of which the host asks after each level whether it has ended.
#include <array>
#include <optional>
#include <utility>

#include "bfs/gpu/exchange.hpp"
#include "bfs/gpu/way.hpp"
#include "shared/gpu_stream_times.hpp"
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
  StepWay(World& world, const GpuGraph& graph, MakeExchange* make, const Channels& channels)
      : world_(world),
        graph_(graph),
        frontiers_{GpuFrontier(world, graph.on_host().partition),
                   GpuFrontier(world, graph.on_host().partition)},
        exchange_(make(world, sendings(frontiers_, graph.on_host().partition), channels)),
        own_(graph) {
    for (std::size_t turn = 0; turn < 2; ++turn) steps_[turn] = make_step(turn);
    world.barrier();
  }

  bool can_send() const { return exchange_ != nullptr; }

  void capture() {
    for (std::size_t turn = 0; turn < 2; ++turn)
      graphs_[turn].emplace(world_, stream_.get(), [this, turn] {
        enqueue_level(turn, [this](std::size_t which) { send(which); });
      });
  }

  int run(Vertex root) override {
    return search(root, [this](std::size_t turn) {
      if (graphs_[turn]) {
        graphs_[turn]->launch();
      } else {
        enqueue_level(turn, [this](std::size_t which) { send(which); });
      }
    });
  }

  std::vector<MessageCost> time_messages(std::span<const Vertex> roots) override {
    StreamTimes times(1);
    const auto timed = [&](std::size_t which) { times.time(0, stream_.get(), [&] { send(which); }); };
    for (const Vertex root : roots) {
      world_.barrier();
      search(root, [&](std::size_t turn) { enqueue_level(turn, timed); });
    }
    const Partition& partition = graph_.on_host().partition;
    return {cost_of(world_, name_of(Message::out), frontiers_[0].sending(partition).bytes(), times.us(0),
                    static_cast<double>(roots.size()))};
  }

  std::span<const Vertex> parents() override {
    own_.read_parents(parents_, stream_);
    return parents_;
  }

  std::string explain(Message message) const override { return exchange_->explain(message); }

 private:
  // Has `level` put each level on the stream that is searched from a frontier.
  template <class Level>
  int search(Vertex root, const Level& level) {
    cuda_ok(launch_begin(steps_[turn_], root, stream_.get()), "beginning a search");
    const Progressed& told = *told_.data();
    do {
      level(turn_);
      stream_.synchronize("searching a level");
      world_.check();
      turn_ = 1 - turn_;
    } while (told.ended == 0);
    return static_cast<int>(told.levels);
  }

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

  void send(std::size_t which) { exchange_->send(which, stream_.get()); }

  template <class Send>
  void enqueue_level(std::size_t turn, const Send& send) {
    cuda_ok(launch_level(steps_[turn], graph_.grid(), stream_.get()), "starting a level");
    send(1 - turn);
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

std::unique_ptr<GpuWay> step_way(World& world, const GpuGraph& graph, MakeExchange* make, Start start,
                                 const Channels& channels) {
  auto way = std::make_unique<StepWay>(world, graph, make, channels);
  if (!way->can_send()) return nullptr;
  if (start == Start::graph) way->capture();
  return way;
}

}  // namespace tca::bfs
