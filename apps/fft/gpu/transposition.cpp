#include "fft/gpu/transposition.hpp"

#include <utility>

namespace tca::fft {

using apps::cuda_ok;

StreamTransposition::StreamTransposition(World& world, const Hop& hop, Stream stream) : stream_(stream) {
  if (world.ranks_share_devices() || hop.batches == 1) return;
  for (int batch = 0; batch < hop.batches; ++batch) beside_.push_back(std::make_unique<Beside>());
}

void StreamTransposition::start(int batch) {
  if (beside_.empty()) return exchange(batch, stream_);
  const Beside& own = *beside_[static_cast<std::size_t>(batch)];
  cuda_ok(cudaEventRecord(own.ready.get(), stream_), "starting an exchange");
  cuda_ok(cudaStreamWaitEvent(side_.get(), own.ready.get()), "starting an exchange");
  exchange(batch, side_.get());
  cuda_ok(cudaEventRecord(own.done.get(), side_.get()), "finishing an exchange");
}

void StreamTransposition::wait(int batch) {
  if (beside_.empty()) return;
  const Beside& own = *beside_[static_cast<std::size_t>(batch)];
  cuda_ok(cudaStreamWaitEvent(stream_, own.done.get()), "waiting for an exchange");
}

namespace {

class DirectGpuTransposition : public StreamTransposition {
 public:
  DirectGpuTransposition(World& world, const Hop& hop, Stream stream, Chains chains)
      : StreamTransposition(world, hop, stream), chains_(std::move(chains)) {}

  std::string explain() const override { return chains_.explain(); }

 protected:
  void exchange(int batch, Stream stream) override { chains_[batch].run(stream); }

 private:
  Chains chains_;
};

}  // namespace

template <class Real>
std::unique_ptr<Transposition> direct_gpu_transposition(World& world, const Decomposition& decomposition,
                                                        const Arrays<Real>& arrays, const Hop& hop,
                                                        const apps::Channels& channels, Stream stream) {
  return std::make_unique<DirectGpuTransposition>(
      world, hop, stream,
      Chains(world, decomposition, arrays, hop, channels.of(message_of(hop, decomposition))));
}

template std::unique_ptr<Transposition> direct_gpu_transposition(World&, const Decomposition&,
                                                                 const Arrays<float>&, const Hop&,
                                                                 const apps::Channels&, Stream);
template std::unique_ptr<Transposition> direct_gpu_transposition(World&, const Decomposition&,
                                                                 const Arrays<double>&, const Hop&,
                                                                 const apps::Channels&, Stream);

}  // namespace tca::fft
