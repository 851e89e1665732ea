#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "bfs/gpu/way.hpp"
#include "shared/gpu_sum.hpp"
#include "tca/error.hpp"
#include "tca/team.hpp"
#include "tca/window.hpp"

namespace tca::bfs {

using namespace apps;

namespace {

World& one_sub_cluster(World& world) {
  if (is_one_sub_cluster(world)) return world;
  throw Error(Errc::invalid_argument,
              "one kernel for a search needs every rank in one sub-cluster; across sub-clusters levels are "
              "started by the host or a graph");
}

class KernelWay : public GpuWay {
 public:
  KernelWay(World& world, const GpuGraph& graph, bool stays)
      : world_(one_sub_cluster(world)),
        graph_(graph),
        frontiers_(world.window<Word>(std::int64_t{3} * graph.arrays().all_words, "frontiers")),
        team_(world.team("OUT", 1, graph.grid().blocks)),
        own_{GpuVertices(graph), GpuVertices(graph)} {
    run_.graph = graph.arrays();
    run_.frontiers = frontiers_.device();
    for (std::size_t turn = 0; turn < own_.size(); ++turn) run_.own[turn] = own_[turn].arrays();
    run_.team = team_.device();
    run_.stays = stays;
    run_.talk = talk_.data();
    run_.order = order_.data();
    const OwnVertices& first = run_.own[(search_ + 1) % 2];
    cuda_ok(launch_make_ready(run_.graph, first, stream_.get()), "preparing the first search");
    stream_.synchronize("preparing the first search");
    // What CUDA sets up for its first such copy may have to wait for the GPU, which a resident kernel keeps.
    own_[0].read_parents(parents_, copies_);
    world.barrier();  // nobody writes into a frontier before all are there
  }
  KernelWay(const KernelWay&) = delete;
  KernelWay& operator=(const KernelWay&) = delete;
  ~KernelWay() override {
    if (is_there_) order(nowhere);
  }

  void prepare() override {
    if (!run_.stays) return;
    if (!is_there_) launch();
    is_there_ = true;
    await(talk_.data()->awaits, search_ + 1);
  }

  int run(Vertex root) override {
    if (run_.stays) {
      prepare();
      order(root);
    } else {
      run_.root = root;
      launch();
    }
    ++search_;
    Talk& talk = *talk_.data();
    const Word levels = await(talk.levels, search_);
    steps_ = await(talk.steps, search_);
    run_.first_frontier = (run_.first_frontier + steps_) % 3;
    ns_ = await(talk.ns, search_);
    return static_cast<int>(levels);
  }

  // The kernel ends. The search after an order that was none has the number after the next, and so its turn.
  void leave() override {
    if (!is_there_) return;
    order(nowhere);
    search_ += 2;
    is_there_ = false;
    stream_.synchronize("ending the searches");
    world_.check();
  }

  // A copy runs beside the kernel, except where another rank's kernel may hold it up in their common queue.
  std::span<const Vertex> parents() override {
    if (world_.ranks_share_devices()) leave();
    own_[search_ % 2].read_parents(parents_, copies_);
    return parents_;
  }

  double kernel_us() const override { return ns_ * 1e-3; }

  std::vector<LevelTime> level_times() override {
    // Behind that the kernel has told them.
    if (is_there_)
      await(talk_.data()->awaits, search_ + 1);
    else
      stream_.synchronize("searching");
    std::vector<LevelTime> times;
    double before = 0;
    for (Word level = 0; level < std::min(steps_, most_timed_levels); ++level) {
      const LevelEnds& ends = talk_.data()->ends[level];
      times.push_back({.is_from_below = ends.is_from_below != 0,
                       .reached = ends.vertices,
                       .search_us = ends.searched_ns * 1e-3 - before,
                       .barrier_us = (ends.ended_ns - ends.searched_ns) * 1e-3});
      before = ends.ended_ns * 1e-3;
    }
    return times;
  }

  std::string explain(Message message) const override {
    if (message != Message::out) return "";
    return "cuda/direct: warps set the bits of what they reach in every rank's frontier, and blocks send "
           "their numbers to all blocks\n";
  }

 private:
  void launch() {
    run_.search = search_ + 1;
    cuda_ok(launch_run(run_, graph_.grid(), stream_.get()), "starting a search");
  }

  // Orders a search from this root.
  void order(Vertex root) {
    std::atomic_ref(talk_.data()->order)
        .store(Numbered::make(static_cast<Word>(root), search_ + 1), std::memory_order_release);
  }

  // Polls a number that the kernel stores in host memory, until it is of this search, and returns it.
  Word await(std::uint64_t& number, Word search) {
    constexpr int polls_between_checks = 4096;
    bool is_over = false;
    for (int polls = 1;; ++polls) {
      const std::uint64_t now = std::atomic_ref(number).load(std::memory_order_acquire);
      if (Numbered::search(now) == search) return Numbered::value(now);
      if (polls % polls_between_checks != 0) continue;
      std::this_thread::yield();
      if (is_over) throw_what_happened();
      // The number may have come since the last look at it, so the kernel's end is taken note of only.
      is_over = cudaStreamQuery(stream_.get()) != cudaErrorNotReady;
      polls = 0;
    }
  }

  [[noreturn]] void throw_what_happened() {
    is_there_ = false;
    stream_.synchronize("searching");
    world_.check();
    throw Error(Errc::device_failed, "a search has ended without a result");
  }

  World& world_;
  const GpuGraph& graph_;
  Window<Word> frontiers_;
  Team team_;
  std::array<GpuVertices, 2> own_;  // of searches with even numbers and odd ones
  PinnedArray<Talk> talk_{1};
  DeviceArray<std::uint64_t> order_{1};
  Word search_ = 0;        // the number of the last search
  bool is_there_ = false;  // whether a kernel waits for orders
  Word steps_ = 0;         // of that search
  double ns_ = 0;
  std::vector<Vertex> parents_;
  Run run_{};
  OwnStream copies_;
  // Destroyed first, so that nothing runs any more when the memory goes.
  OwnStream stream_;
};

}  // namespace

std::unique_ptr<GpuWay> kernel_way(World& world, const GpuGraph& graph, Start start) {
  return std::make_unique<KernelWay>(world, graph, start == Start::resident);
}

}  // namespace tca::bfs
