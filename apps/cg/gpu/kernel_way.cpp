#include <chrono>
#include <cmath>
#include <cstdint>

#include "cg/gpu/kernels.hpp"
#include "cg/gpu/way.hpp"
#include "shared/gpu_sum.hpp"
#include "tca/error.hpp"
#include "tca/team.hpp"

namespace tca::cg {

using namespace apps;

namespace {

void check_reach(const World& world, const Share& share) {
  if (!is_one_sub_cluster(world))
    throw Error(Errc::invalid_argument,
                "one kernel for all steps needs every rank in one sub-cluster; across sub-clusters they are "
                "started by the host or a graph");
  if (!share.whole_rows)
    throw Error(Errc::invalid_argument,
                "one kernel for all steps takes the matrix by rows, a grid of Nx1; blocks are started by the "
                "host or a graph");
}

class KernelWay : public Way {
 public:
  KernelWay(World& world, const GpuMatrix& matrix, Order order)
      : world_(world),
        matrix_(matrix),
        published_(world.window<double>(2 * matrix.problem().n, "published")),
        sums_(world.window<device::Packet>(
            std::int64_t{2 * most_sums} * matrix.arrays().tiling.tiles() * world.size(), "sums")),
        team_(world.team("DOT", 1)),
        multiplied_(matrix.arrays().tiling.tiles()),
        products_(products_of(matrix)),
        found_(static_cast<std::size_t>(matrix.problem().steps)) {
    const bool merged = order == Order::merged;
    const Share& share = matrix.share();
    run_.matrix = matrix.arrays();
    run_.published = published_.device();
    run_.sums = sums_.device();
    run_.limits = team_.device().limits;
    run_.multiplied = multiplied_.data();
    run_.products = products_.data();
    run_.n = static_cast<std::uint64_t>(matrix.problem().n);
    run_.found = found_.data();
    run_.room = plan_room(matrix.most(), matrix.arrays().tiling, merged, matrix.shared_bytes());
    run_.rows = static_cast<Word>(share.rows.size);
    run_.first_row = static_cast<Word>(share.rows.begin);
    run_.most_own = matrix.most().own;
    run_.merged = merged;
    run_.spill = spill_of(matrix.most(), run_.room, merged);
    spilled_.emplace(run_.spill * matrix.arrays().tiling.tiles());
    run_.spilled = spilled_->data();
    world.barrier();  // nobody publishes before every window is there
  }

  Step run(int steps, std::vector<double>& step_us, const Tick& tick) override {
    const auto begin = std::chrono::steady_clock::now();
    run_.steps = static_cast<Word>(steps);
    cuda_ok(launch_run(run_, stream_.get()), "starting the benchmark's kernel");
    stream_.synchronize("running the benchmark");
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    world_.check();
    run_.sums_before += sums_of(run_.steps, run_.merged != 0);
    run_.products_before += cg::products_of(run_.steps);
    step_us.push_back(took.count() / steps);
    if (tick) tick(steps);
    const Found last = found_.read(stream_)[static_cast<std::size_t>(steps - 1)];
    return {.zeta = matrix_.problem().shift + 1 / last.xz, .residual = std::sqrt(last.squares)};
  }

 private:
  // Products of tiles side by side, where there are such.
  static std::size_t products_of(const GpuMatrix& matrix) {
    const Word parts = matrix.arrays().tiling.column_parts;
    return parts == 1 ? 0 : static_cast<std::size_t>(matrix.share().rows.size) * parts;
  }

  World& world_;
  const GpuMatrix& matrix_;
  Window<double> published_;
  Window<device::Packet> sums_;
  Team team_;
  DeviceArray<Word> multiplied_;
  DeviceArray<double> products_;
  DeviceArray<Found> found_;
  std::optional<DeviceArray<double>> spilled_;
  OwnStream stream_;
  Run run_;
};

}  // namespace

Start chosen_start(World& world, const Share& share) {
  return is_one_sub_cluster(world) && share.whole_rows ? Start::kernel : Start::graph;
}

std::unique_ptr<Way> kernel_way(World& world, const GpuMatrix& matrix, Order order) {
  check_reach(world, matrix.share());
  return std::make_unique<KernelWay>(world, matrix, order);
}

}  // namespace tca::cg
