#include "qcd/gpu/sums.hpp"

namespace tca::qcd {

GpuSums::GpuSums(World& world, int rhs, const Peer* peer, const OwnStream& stream)
    : ranks_(world.size()),
      rhs_(rhs),
      peer_(peer),
      stream_(stream),
      partials_(std::size_t{4} * most_hop_blocks * most_sums * static_cast<unsigned>(rhs)),
      totals_(std::size_t{most_sums} * static_cast<unsigned>(rhs)),
      across_ranks_(world, "solver sums", static_cast<int>(most_sums) * rhs) {}

void GpuSums::add_up(unsigned shares, unsigned count) const {
  count *= static_cast<unsigned>(rhs_);
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
