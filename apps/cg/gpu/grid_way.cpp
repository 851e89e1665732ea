#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "cg/gpu/kernels.hpp"
#include "cg/gpu/messages.hpp"
#include "cg/gpu/one_kernel_way.hpp"
#include "cg/gpu/way.hpp"
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

class GridWay : public OneKernelWay {
 public:
  GridWay(World& world, const GpuMatrix& matrix, Order order, const Channels& channels)
      : OneKernelWay(world, matrix.problem()),
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
        products_(static_cast<std::size_t>(matrix.share().rows.size) * matrix.arrays().tiling.column_parts) {
    prepare(order == Order::merged);
    world.barrier();  // nobody publishes before every window is there
  }

  std::string explain(Message message) const override {
    if (blocks_) return blocks_->messages.explain(message);
    return message == Message::gather
               ? "cuda/direct: blocks store their elements and their shares of sums in every rank's memory\n"
               : "";
  }

 private:
  void launch(Word steps, cudaStream_t stream) override {
    run_.steps = steps;
    cuda_ok(blocks_ ? launch_blocks_run(run_, blocks_->launched, stream) : launch_run(run_, stream),
            "starting the benchmark's kernel");
    run_.sums_before += sums_of(steps, run_.merged != 0);
    run_.products_before += products_of(steps);
  }

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
    run_.found = found();
    run_.room = plan_room(matrix_.most(), matrix_.arrays().tiling, merged, matrix_.shared_bytes());
    run_.rows = static_cast<Word>(share.rows.size);
    run_.first_row = share.whole_rows ? static_cast<Word>(share.rows.begin) : 0;
    run_.most_own = matrix_.most().own;
    run_.merged = merged;
    run_.spill = spill_of(matrix_.most(), run_.room, merged);
    run_.spilled = spilled_.emplace(run_.spill * tiles_).data();
  }

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
  std::optional<DeviceArray<double>> spilled_;
  GridRun run_;
};

}  // namespace

std::unique_ptr<Way> grid_way(World& world, const GpuMatrix& matrix, Order order, const Channels& channels) {
  return std::make_unique<GridWay>(world, matrix, order, channels);
}

}  // namespace tca::cg
