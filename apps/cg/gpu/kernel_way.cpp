#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>

#include "cg/gpu/kernels.hpp"
#include "cg/gpu/messages.hpp"
#include "cg/gpu/way.hpp"
#include "shared/gpu_sum.hpp"
#include "tca/device/team.hpp"
#include "tca/error.hpp"
#include "tca/team.hpp"

namespace tca::cg {

using namespace apps;

namespace {

// What ranks with blocks of the matrix have besides.
struct Blocks {
  Blocks(World& world, const Share& share, const Channels& channels)
      : vectors(make_vectors(world, share)),
        messages(world, share, vectors, channels),
        chains(device_chains()) {
    launched.chains = chains.data();
    launched.barrier = barrier.data();
    launched.reductions = static_cast<Word>(share.reductions.size());
    for (std::size_t which = 0; which < share.reductions.size(); ++which) {
      const Range& target = share.reductions[which].received;
      launched.of[which] = {messages.received_in(which), static_cast<Word>(target.begin),
                            static_cast<Word>(target.size)};
    }
  }

  std::vector<DeviceChain> device_chains() const {
    std::vector<DeviceChain> all;
    for (const Chain& reduction : messages.reductions) all.push_back(reduction.device());
    all.push_back(messages.transpose.device());
    return all;
  }

  Vectors vectors;
  BlockMessages messages;
  DeviceArray<DeviceChain> chains;
  DeviceArray<std::uint64_t> barrier{1};
  BlockChains launched;
};

// Returns null where ranks have whole rows.
std::unique_ptr<Blocks> blocks_of(World& world, const Share& share, const Channels& channels) {
  if (!is_one_sub_cluster(world))
    throw Error(Errc::invalid_argument,
                "one kernel for all steps needs every rank in one sub-cluster; across sub-clusters they are "
                "started by the host or a graph");
  if (share.whole_rows) return nullptr;
  if (share.reductions.size() > BlockChains::most_reductions)
    throw Error(Errc::invalid_argument,
                fmt::format("one kernel for all steps takes grids of up to {} columns of ranks; more are "
                            "started by the host or a graph",
                            1 << BlockChains::most_reductions));
  return std::make_unique<Blocks>(world, share, channels);
}

class KernelWay : public Way {
 public:
  KernelWay(World& world, const GpuMatrix& matrix, Order order, const Channels& channels)
      : world_(world),
        matrix_(matrix),
        tiles_(matrix.arrays().tiling.tiles()),
        blocks_(blocks_of(world, matrix.share(), channels)),
        // The ranks between which a vector is divided.
        among_(blocks_ ? blocks_->messages.row_of_grid : world),
        n_(static_cast<std::size_t>(matrix.share().columns.size)),
        published_(world.window<double>(2 * matrix.share().columns.size, "published")),
        sums_(among_.window<device::Packet>(std::int64_t{2 * most_sums} * tiles_ * among_.size(), "sums")),
        team_(among_.team("DOT", 1)),
        multiplied_(tiles_),
        products_(static_cast<std::size_t>(matrix.share().rows.size) * matrix.arrays().tiling.column_parts),
        found_(static_cast<std::size_t>(matrix.problem().steps)) {
    prepare(order == Order::merged);
    world.barrier();  // nobody publishes before every window is there
  }

  Step run(int steps, std::vector<double>& step_us, const Tick& tick) override {
    const auto begin = std::chrono::steady_clock::now();
    run_.steps = static_cast<Word>(steps);
    cuda_ok(
        blocks_ ? launch_blocks_run(run_, blocks_->launched, stream_.get()) : launch_run(run_, stream_.get()),
        "starting the benchmark's kernel");
    stream_.synchronize("running the benchmark");
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    world_.check();
    run_.sums_before += sums_of(run_.steps, run_.merged != 0);
    run_.products_before += products_of(run_.steps);
    step_us.push_back(took.count() / steps);
    if (tick) tick(steps);
    const Found last = found_.read(stream_)[static_cast<std::size_t>(steps - 1)];
    return {.zeta = matrix_.problem().shift + 1 / last.xz, .residual = std::sqrt(last.squares)};
  }

  std::string explain(Message message) const override {
    if (blocks_) return blocks_->messages.explain(message);
    return message == Message::gather
               ? "cuda/direct: blocks store their elements and their shares of sums in every rank's memory\n"
               : "";
  }

 private:
  void prepare(bool merged) {
    const Share& share = matrix_.share();
    run_.matrix = matrix_.arrays();
    run_.published = published_.device();
    if (blocks_) {  // each rank has all that its columns need
      run_.published.parts[0] = published_.data();
      run_.published.rank = 0;
      run_.published.size = 1;
      run_.product = blocks_->vectors.product.data();
      run_.result = blocks_->vectors.result.data();
    }
    run_.sums = sums_.device();
    run_.limits = team_.device().limits;
    run_.multiplied = multiplied_.data();
    run_.products = products_.data();
    run_.n = n_;
    run_.found = found_.data();
    run_.room = plan_room(matrix_.most(), matrix_.arrays().tiling, merged, matrix_.shared_bytes());
    run_.rows = static_cast<Word>(share.rows.size);
    run_.first_row = share.whole_rows ? static_cast<Word>(share.rows.begin) : 0;
    run_.most_own = matrix_.most().own;
    run_.merged = merged;
    run_.spill = spill_of(matrix_.most(), run_.room, merged);
    run_.spilled = spilled_.emplace(run_.spill * tiles_).data();
  }

  World& world_;
  const GpuMatrix& matrix_;
  Word tiles_;
  std::unique_ptr<Blocks> blocks_;
  World& among_;
  std::size_t n_;
  Window<double> published_;
  Window<device::Packet> sums_;
  Team team_;
  DeviceArray<device::Packet> multiplied_;
  DeviceArray<double> products_;
  DeviceArray<Found> found_;
  std::optional<DeviceArray<double>> spilled_;
  OwnStream stream_;
  Run run_;
};

}  // namespace

Start chosen_start(World& world, const Share& share) {
  return is_one_sub_cluster(world) && share.reductions.size() <= BlockChains::most_reductions ? Start::kernel
                                                                                              : Start::graph;
}

std::unique_ptr<Way> kernel_way(World& world, const GpuMatrix& matrix, Order order,
                                const Channels& channels) {
  return std::make_unique<KernelWay>(world, matrix, order, channels);
}

}  // namespace tca::cg
