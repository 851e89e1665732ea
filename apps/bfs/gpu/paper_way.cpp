// A search with the messages of T. Kaneda et al., "Performance Evaluation of PEACH3", HEART 2017. OUT goes from
// GPU to GPU; FLAG and TREE go from GPUs to the memory of hosts.
#include <algorithm>
#include <array>
#include <optional>

#include "bfs/gpu/exchange.hpp"
#include "bfs/gpu/way.hpp"
#include "tca/error.hpp"
#include "tca/window.hpp"

namespace tca::bfs {

using namespace apps;

namespace {

// What a level has reached. Two take turns; see Sending.
struct StampedFrontier {
  Window<std::int32_t> stamps;  // of all vertices
  Window<std::int32_t> flags;   // of each rank, in host memory: whether it has reached any
  Window<std::int32_t> flag;    // this rank's, on its GPU

  StampedFrontier(World& world, const Partition& partition)
      : stamps(world.window<std::int32_t>(partition.room(), "stamps")),
        flags(world.host_window<std::int32_t>(partition.ranks(), "flags")),
        flag(world.window<std::int32_t>(1, "flag")) {}

  Sending out(const Partition& partition) const {
    return {.message = Message::out, .to_all = true, .parts = {{stamps.untyped(), partition.each()}}};
  }
  Sending sent_flag() const {
    return {.message = Message::flag, .to_all = true, .parts = {{flags.untyped(), 1, flag.untyped()}}};
  }
};

class PaperWay : public GpuWay {
 public:
  PaperWay(World& world, const GpuGraph& graph, Start start, const apps::Channels& channels)
      : world_(world),
        graph_(graph),
        frontiers_{StampedFrontier(world, partition()), StampedFrontier(world, partition())},
        tree_(world.window<std::int64_t>(partition().each(), "own tree")),
        collected_(world.host_window<std::int64_t>(world.rank() == 0 ? partition().room() : 1, "tree")),
        exchange_(direct_gpu_exchange(world, sendings(), channels)),
        own_(graph) {
    for (std::size_t turn = 0; turn < 2; ++turn) steps_[turn] = make_step(turn);
    world.barrier();
    if (start == Start::host) return;
    for (std::size_t turn = 0; turn < 2; ++turn)
      graphs_[turn].emplace(world_, stream_.get(), [this, turn] { enqueue_level(turn); });
  }

  // Every rank finds out by itself, from the flags in its host's memory, whether the search has ended.
  int run(Vertex root) override {
    cuda_ok(launch_begin(steps_[turn_], root, stream_.get()), "beginning a search");
    for (int levels = 0;; ++levels) {
      if (graphs_[turn_])
        graphs_[turn_]->launch();
      else
        enqueue_level(turn_);
      stream_.synchronize("searching a level");
      world_.check();
      turn_ = 1 - turn_;
      if (std::ranges::any_of(frontiers_[turn_].flags, [](std::int32_t flag) { return flag != 0; })) continue;
      collect();
      return levels;
    }
  }

  std::span<const Vertex> parents() override {
    own_.read_parents(parents_, stream_);
    return parents_;
  }

  std::span<const std::int64_t> collected() const override {
    return world_.rank() == 0 ? collected_.elements() : std::span<const std::int64_t>();
  }

  std::string explain(Message message) const override { return exchange_->explain(message); }

 private:
  static constexpr std::size_t first_flag = 2, tree = 4;  // among the sendings

  const Partition& partition() const { return graph_.on_host().partition; }

  std::vector<Sending> sendings() const {
    const Sending to_first{.message = Message::tree,
                           .to_all = false,
                           .parts = {{collected_.untyped(), partition().each(), tree_.untyped()}}};
    return {frontiers_[0].out(partition()), frontiers_[1].out(partition()), frontiers_[0].sent_flag(),
            frontiers_[1].sent_flag(), to_first};
  }

  // Of a level that is searched from this frontier.
  PaperStep make_step(std::size_t turn) const {
    const StampedFrontier& next = frontiers_[1 - turn];
    const auto rank = static_cast<std::size_t>(world_.rank());
    return {.graph = graph_.arrays(),
            .frontier = frontiers_[turn].stamps.data(),
            .next = next.stamps.data() + partition().first(world_.rank()),
            .stamp = stamp_.data(),
            .flag = next.flag.data(),
            .told = next.flags.device().parts[rank] + rank,
            .own = own_.arrays()};
  }

  void enqueue_level(std::size_t turn) {
    cuda_ok(launch_level(steps_[turn], graph_.grid(), stream_.get()), "starting a level");
    exchange_->send(1 - turn, stream_.get());
    exchange_->send(first_flag + 1 - turn, stream_.get());
  }

  // Rank 0's own part is not sent.
  void collect() {
    const auto each = static_cast<std::size_t>(partition().each());
    cuda_ok(launch_widen(own_.arrays().parents, tree_.data(), static_cast<Word>(each), stream_.get()),
            "preparing the tree");
    if (world_.rank() == 0)
      stream_.copy(collected_.data(), tree_.data(), each * sizeof(std::int64_t), cudaMemcpyDeviceToHost);
    exchange_->send(tree, stream_.get());
    stream_.synchronize("collecting the tree");
    world_.check();
  }

  World& world_;
  const GpuGraph& graph_;
  std::array<StampedFrontier, 2> frontiers_;
  Window<std::int64_t> tree_, collected_;
  std::unique_ptr<GpuExchange> exchange_;
  GpuVertices own_;
  DeviceArray<std::int32_t> stamp_{1};
  std::array<PaperStep, 2> steps_{};
  std::size_t turn_ = 0;  // from which frontier the next level is searched
  std::vector<Vertex> parents_;
  // Destroyed first, so that nothing runs any more when the memory goes.
  OwnStream stream_;
  std::array<std::optional<apps::Graph>, 2> graphs_;
};

}  // namespace

std::unique_ptr<GpuWay> paper_way(World& world, const GpuGraph& graph, Start start,
                                  const apps::Channels& channels) {
  if (start == Start::host || start == Start::graph)
    return std::make_unique<PaperWay>(world, graph, start, channels);
  throw Error(Errc::invalid_argument,
              "with the messages of the paper hosts decide after each level, so that levels are started by "
              "the host or a graph");
}

}  // namespace tca::bfs
