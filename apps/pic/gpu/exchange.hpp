// The exchange in the order of a stream.
#pragma once

#include <cuda_runtime.h>

#include <array>
#include <cstdint>
#include <string>

#include "pic/direct_exchange.hpp"
#include "shared/channels.hpp"

namespace tca::pic {

// Particles travel from where kernels have queued them.
template <class Number>
class StreamExchange : public Exchange {
 public:
  StreamExchange(World& world, const Exchanged<Number>& what, const apps::Channels& channels,
                 cudaStream_t stream)
      : fold_(committed_fold(world, what, channels.of("CURRENT"))),
        halo_(committed_halo(world, what.domain, what.e, channels.of("FIELD"))),
        queues_(world, what.domain, what.room, channels.of("PARTICLES")),
        stream_(stream) {}

  void start_flow() override { fold_.start(stream_); }
  void wait_flow() override { fold_.wait(stream_); }
  void start_field() override { halo_.start(stream_); }
  void wait_field() override { halo_.wait(stream_); }
  int migrate(Particles&, const Leavers&) override {
    queues_.chain.run(stream_);
    return 1;
  }

  std::array<std::int64_t, 3> bytes() const override { return {fold_.bytes(), halo_.bytes(), 0}; }
  bool is_timed() const override { return false; }
  std::string explain(std::size_t message) const override {
    return message == 0 ? fold_.explain() : message == 1 ? halo_.explain() : queues_.chain.explain();
  }

  const Queues& queues() const { return queues_; }

 private:
  Fold fold_;
  Halo halo_;
  Queues queues_;
  cudaStream_t stream_;
};

}  // namespace tca::pic
