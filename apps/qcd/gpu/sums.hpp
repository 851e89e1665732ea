// GpuSums adds up the sums of a solve, over blocks and ranks, on a stream, when the host starts the solve
// step by step.
#pragma once

#include <vector>

#include "qcd/gpu/wilson.hpp"
#include "qcd/peers/peer.hpp"
#include "shared/gpu_sum.hpp"

namespace tca::qcd {

class GpuSums {
 public:
  // Collective. For `rhs` right-hand sides. With a peer, which must outlive this object, the peer adds up
  // over the ranks.
  GpuSums(World& world, int rhs, const Peer* peer, const OwnStream& stream);

  // Where kernels leave their shares. It has room for two stages, each of two launches with the largest
  // number of blocks.
  double* partials() const { return partials_.data(); }
  double* totals() const { return totals_.data(); }
  // Collective, on the stream. Adds up `shares` shares over all ranks. A share has `count` numbers for each
  // right-hand side.
  void add_up(unsigned shares, unsigned count = sum_count) const;
  // Sets all shares to zero, for stages that may not write all of them.
  void clear() const;
  // The same as apps::GpuSum::team.
  const Team* team() const { return across_ranks_.team(); }
  std::vector<double> read() const { return totals_.read(stream_); }

 private:
  int ranks_, rhs_;
  const Peer* peer_;
  const OwnStream& stream_;
  DeviceArray<double> partials_, totals_;
  apps::GpuSum across_ranks_;
};

}  // namespace tca::qcd
