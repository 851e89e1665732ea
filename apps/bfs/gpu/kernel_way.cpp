#include <utility>

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
  KernelWay(World& world, const GpuGraph& graph)
      : world_(one_sub_cluster(world)),
        graph_(graph),
        frontiers_(world.window<Word>(std::int64_t{3} * graph.arrays().all_words, "frontiers")),
        team_(world.team("OUT", 1, graph.grid().blocks)),
        now_(graph),
        next_(graph) {
    run_.graph = graph.arrays();
    run_.frontiers = frontiers_.device();
    run_.own = now_.arrays();
    run_.next_own = next_.arrays();
    run_.team = team_.device();
    run_.found = found_.data();
    cuda_ok(launch_make_ready(run_.graph, run_.next_own, stream_.get()), "preparing the first search");
    stream_.synchronize("preparing the first search");
    world.barrier();  // nobody writes into a frontier before all are there
  }

  int run(Vertex root) override {
    // The last search has made this one's vertices ready.
    std::swap(run_.own, run_.next_own);
    is_next_ = !is_next_;
    run_.root = root;
    found_.data()->ended = 0;
    cuda_ok(launch_run(run_, graph_.grid(), stream_.get()), "starting a search");
    stream_.synchronize("searching");
    world_.check();
    const Found& found = *found_.data();
    if (found.ended == 0) throw Error(Errc::device_failed, "a search has ended without a result");
    // Only the frontier of its last level, found empty, and the one after that are clear.
    run_.first_frontier = (run_.first_frontier + found.levels + 1) % 3;
    return static_cast<int>(found.levels);
  }

  std::span<const Vertex> parents() override {
    (is_next_ ? next_ : now_).read_parents(parents_, stream_);
    return parents_;
  }

  double kernel_us() const override { return static_cast<double>(found_.data()->ns) * 1e-3; }

  std::string explain() const override {
    return "cuda/direct: warps set the bits of what they reach in every rank's frontier, and blocks send "
           "their numbers to all blocks\n";
  }

 private:
  World& world_;
  const GpuGraph& graph_;
  Window<Word> frontiers_;
  Team team_;
  GpuVertices now_, next_;
  bool is_next_ = false;  // whether the last search was by `next_`
  PinnedArray<Found> found_{1};
  std::vector<Vertex> parents_;
  Run run_{};
  // Destroyed first, so that nothing runs any more when the memory goes.
  OwnStream stream_;
};

}  // namespace

Start chosen_start(const World& world) { return is_one_sub_cluster(world) ? Start::kernel : Start::graph; }

std::unique_ptr<GpuWay> kernel_way(World& world, const GpuGraph& graph) {
  return std::make_unique<KernelWay>(world, graph);
}

}  // namespace tca::bfs
