#include <array>
#include <vector>

#include "fabric/cuda/collective/collective_kernels.hpp"
#include "fabric/cuda/launch/launch.hpp"
#include "tca/device/groups.cuh"

namespace tca::cuda {

namespace {

using device::CollectiveMoves;
using device::CollectivePackets;

// Called once the block has done its part of a step; `good` says that all of it is in place.
template <class Collective>
__device__ void end_step(const Collective& all, Word step, bool good, Done done, const device::Block& block) {
  block.sync();
  if (block.lane() != 0) return;
  all.steps[block.part()] = step;
  if (done.word == nullptr || !good) return;
  const Word last = block.parts() - 1;
  // Release: the host that sees the ticket finds everything in place.
  if (device::count_up(all.count, last) == last) device::store_release(done.word, done.ticket);
}

// `Way` is how packets travel: ExchangePackets or BroadcastPackets.
template <class Way>
__global__ void __launch_bounds__(1024)
    packets_kernel(const __grid_constant__ CollectivePackets all, Phase phase, Done done) {
  const device::Block block = device::Block::of_grid();
  wait_for_previous_kernel();
  const Word step = all.steps[block.part()] + 1;
  const bool sent = phase == Phase::wait || Way::send(all, step, block);
  if (phase == Phase::start) return;
  const bool good = Way::receive(all, step, block, sent);
  end_step(all, step, good, done, block);
}

template <class Kind>
__global__ void __launch_bounds__(512, 1)
    moves_kernel(const __grid_constant__ CollectiveMoves all, Phase phase, Done done) {
  const device::Block block = device::Block::of_grid();
  wait_for_previous_kernel();
  const Word step = all.steps[block.part()] + 1;
  if (phase != Phase::wait) device::begin_moves(all, step, block);
  if (phase == Phase::start) return;
  const bool good = device::finish_moves<Kind>(all, step, block);
  end_step(all, step, good, done, block);
}

// Combines operands that are local and complete, so no thread waits for another.
template <class Kind, class Piece>
__global__ void __launch_bounds__(256) fold_kernel(const __grid_constant__ FoldView fold) {
  wait_for_previous_kernel();
  const std::uint64_t threads = std::uint64_t{gridDim.x} * blockDim.x, pieces = fold.bytes / sizeof(Piece);
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < pieces; i += threads) {
    Piece all = reinterpret_cast<const Piece*>(fold.operands[0])[i];
    for (Word k = 1; k < fold.operands.count; ++k)
      all = Kind::combine(all, reinterpret_cast<const Piece*>(fold.operands[k])[i]);
    reinterpret_cast<Piece*>(fold.into)[i] = all;
  }
}

// Combines cells with what chains have delivered for them, all of which is there.
template <class T, class Op>
__global__ void __launch_bounds__(256) cell_fold_kernel(const __grid_constant__ DeviceFold fold) {
  wait_for_previous_kernel();
  device::fold_cells<T>(fold, std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x,
                        std::uint64_t{gridDim.x} * blockDim.x, Op());
}

using PacketsKernel = void (*)(CollectivePackets, Phase, Done);

// By whether blocks and addresses are multiples of a packet's data.
template <template <class> class Way>
constexpr std::array<PacketsKernel, 2> packets_kernels{packets_kernel<Way<device::PiecesOfAtoms>>,
                                                       packets_kernel<Way<device::WholePieces>>};
template <class Pieces>
using Copies = device::ExchangePackets<device::Copying, Pieces>;

struct Kernels {
  std::array<PacketsKernel, 2> packets;
  void (*moves)(CollectiveMoves, Phase, Done);
  void (*fold_aligned)(FoldView) = nullptr;
  void (*fold)(FoldView) = nullptr;
  void (*cells)(DeviceFold) = nullptr;
};

constexpr Kernels copying{packets_kernels<Copies>, moves_kernel<device::Copying>};

template <class T, class Op>
struct Combining {
  using Kind = device::Reduction<T, Op>;
  template <class Pieces>
  using Packets = device::ExchangePackets<Kind, Pieces>;
  static constexpr Kernels kernels{packets_kernels<Packets>, moves_kernel<Kind>, fold_kernel<Kind, uint4>,
                                   fold_kernel<Kind, typename Kind::Element>, cell_fold_kernel<T, Op>};
};

template <class T>
Kernels kernels_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum:
      return Combining<T, Sum>::kernels;
    case ReduceOp::min:
      return Combining<T, Min>::kernels;
    case ReduceOp::max:
      return Combining<T, Max>::kernels;
    case ReduceOp::product:
      break;
  }
  return Combining<T, Product>::kernels;
}

Kernels kernels_of(MaybeReduction reduction) {
  if (!reduction) return copying;
  switch (reduction->type) {
    case DataType::float32:
      return kernels_of<float>(reduction->op);
    case DataType::float64:
      return kernels_of<double>(reduction->op);
    case DataType::int32:
      return kernels_of<std::int32_t>(reduction->op);
    default:
      break;
  }
  return kernels_of<std::int64_t>(reduction->op);
}

}  // namespace

void launch_packets(const CollectivePackets& packets, MaybeReduction reduction, Phase phase, Grid grid,
                    Done done, cudaStream_t stream) {
  const auto& kernels =
      packets.acks != nullptr ? packets_kernels<device::BroadcastPackets> : kernels_of(reduction).packets;
  const bool whole = packets.atom_bytes == device::piece_bytes;
  launch("running a collective", kernels[whole ? 1 : 0], grid, stream, packets, phase, done);
}

void launch_moves(const CollectiveMoves& moves, MaybeReduction reduction, Phase phase, Grid grid, Done done,
                  cudaStream_t stream) {
  if (phase == Phase::start) grid = {1, 32};
  launch("running a collective", kernels_of(reduction).moves, grid, stream, moves, phase, done);
}

void launch_fold(const FoldView& fold, fabric::Reduction reduction, Grid grid, cudaStream_t stream) {
  const Kernels all = kernels_of(reduction);
  launch("combining what a chain has brought", fold.aligned ? all.fold_aligned : all.fold, grid, stream,
         fold);
}

void launch_cell_fold(const DeviceFold& fold, fabric::Reduction reduction, Grid grid, cudaStream_t stream) {
  launch("combining cells with what ghosts have gathered", kernels_of(reduction).cells, grid, stream, fold);
}

void load_collective_kernels() {
  std::vector<MaybeReduction> all{std::nullopt};
  for (const auto type : {DataType::float32, DataType::float64, DataType::int32, DataType::int64}) {
    for (const auto op : {ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::product})
      all.push_back(fabric::Reduction{type, op});
  }
  const auto load = [](auto* kernel) {
    cudaFuncAttributes attributes{};
    if (kernel != nullptr)
      check(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel)),
            "loading the kernels of OpenTCA's collectives");
  };
  for (const PacketsKernel kernel : packets_kernels<device::BroadcastPackets>) load(kernel);
  for (const MaybeReduction& reduction : all) {
    const Kernels of_kind = kernels_of(reduction);
    for (const PacketsKernel kernel : of_kind.packets) load(kernel);
    load(of_kind.moves);
    load(of_kind.fold_aligned);
    load(of_kind.fold);
    load(of_kind.cells);
  }
}

}  // namespace tca::cuda
