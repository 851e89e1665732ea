#include "qcd/gpu_sums.hpp"

namespace tca::qcd {

GpuSums::GpuSums(World& world, const Peer* peer, const OwnStream& stream)
    : ranks_(world.size()),
      peer_(peer),
      stream_(stream),
      partials_(std::size_t{4} * most_hop_blocks * most_sums),
      totals_(most_sums),
      across_ranks_(world, "solver sums", most_sums) {}

void GpuSums::add_up(unsigned shares, unsigned count) const {
  cuda_ok(launch_totals(partials_.data(), shares, count, totals_.data(), stream_.get()), "adding up");
  if (ranks_ == 1) return;
  if (peer_ != nullptr) {
    peer_->sum({totals_.data(), count}, stream_.get());
  } else {
    across_ranks_.add_up(totals_.data(), static_cast<int>(count), stream_.get());
  }
}

void GpuSums::clear() const {
  cuda_ok(cudaMemsetAsync(partials_.data(), 0, partials_.size() * sizeof(double), stream_.get()),
          "clearing sums");
}

}  // namespace tca::qcd
