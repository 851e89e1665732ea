// The sums of a solve that the host starts step by step, over blocks and ranks, on a stream.
#pragma once

#include <vector>

#include "qcd/gpu_wilson.hpp"
#include "qcd/peer.hpp"
#include "shared/gpu_sum.hpp"

namespace tca::qcd {

class GpuSums {
 public:
  // Collective. For so many right-hand sides. With a peer, which must outlive this, it adds up over the ranks.
  GpuSums(World& world, int rhs, const Peer* peer, const OwnStream& stream);

  // Where kernels leave their shares: up to two stages of as many blocks as there may be, in two launches each.
  double* partials() const { return partials_.data(); }
  double* totals() const { return totals_.data(); }
  // Collective, on the stream: of so many shares of `count` numbers for each right-hand side, over all ranks.
  void add_up(unsigned shares, unsigned count = sum_count) const;
  // All shares, of which some may not be written, begin as zero.
  void clear() const;
  // As apps::GpuSum::team.
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
