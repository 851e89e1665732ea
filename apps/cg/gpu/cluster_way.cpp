#include <algorithm>
#include <optional>
#include <vector>

#include "cg/gpu/kernels.hpp"
#include "cg/gpu/one_kernel_way.hpp"
#include "cg/gpu/way.hpp"
#include "shared/gpu_sum.hpp"

namespace tca::cg {

using namespace apps;

namespace {

// A chain by which every rank gets so many elements and shares of all others.
class AllToAll {
 public:
  // `elements` are those that each rank sends.
  AllToAll(World& world, const char* name, const std::vector<std::int64_t>& elements)
      : chain_(world.chain(name, {.guarded = false})), to_(elements.size()), from_(elements.size()) {
    const auto own = static_cast<std::size_t>(world.rank());
    for (std::size_t rank = 0; rank < elements.size(); ++rank) {
      if (rank == own) continue;
      to_[rank] = chain_.put_produced<double>(static_cast<int>(rank), elements[own]);
      from_[rank] = chain_.expect_produced<double>(static_cast<int>(rank), elements[rank]);
    }
    chain_.commit();
  }

  ClusterLink::Ends ends(std::size_t rank) const { return {to_[rank]->device(), from_[rank]->device()}; }
  device::Progress progress() const { return chain_.device_produced().progress(); }
  std::string explain() const { return chain_.explain(); }

 private:
  Chain chain_;
  std::vector<std::optional<ProducedPut<double>>> to_;
  std::vector<std::optional<ProducedArrival<double>>> from_;
};

class ClusterWay : public OneKernelWay {
 public:
  ClusterWay(World& world, const GpuMatrix& matrix, const ClusterRun& run)
      : OneKernelWay(world, matrix.problem()), run_(run) {
    run_.found = found();
    if (world.size() > 1) connect(world, matrix.share());
    world.barrier();  // nobody sends before every chain is there
  }

  std::string explain(Message message) const override {
    if (message == Message::gather && gather_) return gather_->explain();
    return message == Message::dot && dot_ ? dot_->explain() : "";
  }

 private:
  void launch(Word steps, cudaStream_t stream) override {
    run_.steps = steps;
    cuda_ok(launch_cluster_run(run_, stream), "starting the benchmark's kernel");
  }

  void connect(World& world, const Share& share) {
    const std::vector<Range> rows = world.all_gather(share.rows);
    const std::int64_t shares = std::int64_t{ClusterRun::most_shares(run_.merged != 0)} * run_.sources();
    std::vector<std::int64_t> gathered;
    for (const Range& own : rows) gathered.push_back(own.size + shares);
    gather_.emplace(world, "GATHER", gathered);
    dot_.emplace(world, "DOT", std::vector<std::int64_t>(rows.size(), run_.sources()));
    run_.gather = gather_->progress();
    run_.dot = dot_->progress();
    ClusterLink* link = run_.links;
    for (std::size_t rank = 0; rank < rows.size(); ++rank) {
      if (rank == run_.rank) continue;
      *link++ = {.gather = gather_->ends(rank),
                 .dot = dot_->ends(rank),
                 .first = static_cast<Word>(rows[rank].begin),
                 .elements = static_cast<Word>(rows[rank].size)};
    }
  }

  ClusterRun run_;
  std::optional<AllToAll> gather_, dot_;
};

// Collective. All but the chains.
ClusterRun plan(World& world, const GpuMatrix& matrix, Order order) {
  const GpuTiles& tiles = *matrix.clustered();
  const Share& share = matrix.share();
  ClusterRun run;
  run.matrix = tiles.arrays();
  run.n = static_cast<std::uint64_t>(share.columns.size);
  run.first_row = static_cast<Word>(share.rows.begin);
  run.most_own = tiles.most().own;
  run.merged = order == Order::merged;
  run.blocks = run.matrix.tiling.tiles();
  const Word most_own = std::ranges::max(world.all_gather(run.most_own));
  run.warps = std::min((most_own + step_elements - 1) / step_elements, tile_warps);
  run.rank = static_cast<Word>(world.rank());
  run.others = static_cast<Word>(world.size() - 1);
  run.elements = static_cast<Word>(share.rows.size);
  return run;
}

// Whether all that a block uses has room in its shared memory.
bool find_room(const GpuMatrix& matrix, ClusterRun& run) {
  const Tiles::Most& most = matrix.clustered()->most();
  const std::size_t to_meet = run.meeting_words() * sizeof(double), operand = most.columns * sizeof(double);
  if (to_meet + operand > matrix.clustered_bytes()) return false;
  const bool merged = run.merged != 0;
  run.room = plan_room(most, run.matrix.tiling, merged, matrix.clustered_bytes() - to_meet);
  return spill_of(most, run.room, merged) == 0 && run.room.kept_steps == most.steps;
}

}  // namespace

std::unique_ptr<Way> cluster_way(World& world, const GpuMatrix& matrix, Order order) {
  if (matrix.clustered() == nullptr || !is_one_sub_cluster(world) ||
      world.size() > static_cast<int>(ClusterRun::most_others) + 1)
    return nullptr;
  ClusterRun run = plan(world, matrix, order);
  const std::vector<int> fits = world.all_gather(static_cast<int>(find_room(matrix, run)));
  if (!std::ranges::all_of(fits, [](int one) { return one != 0; })) return nullptr;
  return std::make_unique<ClusterWay>(world, matrix, run);
}

}  // namespace tca::cg
