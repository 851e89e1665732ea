// The exchange in the order of a stream: what is behind it there finds everything in place.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "pic/direct_exchange.hpp"
#include "pic/gpu/on_gpu.hpp"
#include "shared/channels.hpp"
#include "shared/gpu_call.hpp"
#include "shared/gpu_sum.hpp"

namespace tca::pic {

// Particles travel from where kernels have queued them.
class GpuExchange : public Exchange {
 public:
  // Flow and field go on this stream.
  explicit GpuExchange(cudaStream_t stream) : stream_(stream) {}

  int migrate(Particles&, const Leavers&) override {
    travel(stream_);
    return 1;
  }
  bool is_timed() const override { return false; }

  // A round of particles.
  virtual void travel(cudaStream_t stream) = 0;
  // Where kernels say how many go, and find how many have come.
  virtual const QueueEnds& ends() const = 0;

 protected:
  cudaStream_t stream_;
};

template <class Number>
class StreamExchange : public GpuExchange {
 public:
  StreamExchange(World& world, const Exchanged<Number>& what, const apps::Channels& channels,
                 cudaStream_t stream)
      : GpuExchange(stream),
        fold_(committed_fold(world, what, channels.of("CURRENT"))),
        halo_(committed_halo(world, what.domain, what.e, channels.of("FIELD"))),
        queues_(world, what.domain, what.room, channels.of("PARTICLES")),
        sum_(world, "ranks with particles left", 1) {
    for (std::size_t k = 0; k < queues_.puts.size(); ++k) {
      ends_.to[k] = queues_.puts[k].device();
      ends_.from[k] = queues_.arrivals[k].device();
    }
    ends_.unfinished = unfinished_.data();
  }

  void start_flow() override { fold_.start(stream_); }
  void wait_flow() override { fold_.wait(stream_); }
  void start_field() override { halo_.start(stream_); }
  void wait_field() override { halo_.wait(stream_); }
  void travel(cudaStream_t stream) override {
    sum_.add_up(ends_.unfinished, 1, stream);
    queues_.chain.run(stream);
  }

  std::array<std::int64_t, 3> bytes() const override { return {fold_.bytes(), halo_.bytes(), 0}; }
  std::string explain(std::size_t message) const override {
    return message == 0 ? fold_.explain() : message == 1 ? halo_.explain() : queues_.chain.explain();
  }
  const QueueEnds& ends() const override { return ends_; }

  const Fold& fold() const { return fold_; }
  const Halo& halo() const { return halo_; }
  const Queues& queues() const { return queues_; }
  // Null where kernels do not reach every rank.
  const Team* team() const { return sum_.team(); }

 private:
  Fold fold_;
  Halo halo_;
  Queues queues_;
  apps::GpuSum sum_;
  apps::DeviceArray<double> unfinished_{1};
  QueueEnds ends_{};
};

// Collective. By NCCL, for comparison: packed and unpacked by kernels, with particles in the same queues, which it sends whole
// as it cannot know how full they are. Null in a build without NCCL. Throws Error{invalid_argument} where ranks share a GPU.
template <class Number>
std::unique_ptr<GpuExchange> nccl_exchange(World& world, const Exchanged<Number>& what, const Queues& queues,
                                           cudaStream_t stream);

}  // namespace tca::pic
