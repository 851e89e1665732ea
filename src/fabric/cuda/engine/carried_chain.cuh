// A warp of the engine's part of a chain. It is prepared once and then carried for many steps.
#pragma once

#include "fabric/cuda/engine/worker_group.cuh"
#include "fabric/cuda/polled_chain.cuh"

namespace tca::cuda::engine {

// A warp as the group of a part. Neighbouring parts belong to different blocks.
class EngineWarp {
 public:
  static __device__ Word part() { return warp() % workers_in_group * gridDim.x + blockIdx.x; }
  static __device__ Word parts() { return workers_in_group * gridDim.x; }
  static __device__ Word lane() { return engine::lane(); }
  static constexpr __device__ Word lanes() { return warp_lanes; }
  static __device__ void sync() { __syncwarp(); }
  static __device__ bool any(bool mine) { return __any_sync(all_lanes, mine) != 0; }
  static __device__ bool all(bool mine) {
    __syncwarp();  // a vote orders no memory
    return __all_sync(all_lanes, mine) != 0;
  }
};

// The calls come in the order of PolledPart. A chain that `has_only_own_packets` has calls of its own for the
// same, which may be mixed with the others:
//
//   chain.read_step();
//   while (!chain.try_start_own_packets()) ...;
//   chain.keep_step();
//   while (!chain.try_wait_own_packets()) ...;
//   chain.acknowledge();
class CarriedChain : public PolledPart<EngineWarp> {
 public:
  __device__ explicit CarriedChain(const DeviceChain& chain) : PolledPart(chain, EngineWarp(), true) {}

  // Whether all that the chain is to this warp is one packet a lane each way. The calls below then take fewer
  // instructions.
  __device__ bool has_only_own_packets() const { return sends_own_packet_ != 0 && receives_own_packet_ != 0; }
  __device__ bool try_start_own_packets() {
    if (!begun_) ++step_;
    begun_ = !EngineWarp::all(out_.missing_ack(step_) == device::no_link);
    if (!begun_) out_.send_now(step_, device::Warp(group_));
    return !begun_;
  }
  __device__ bool try_wait_own_packets() {
    return in_.try_receive(step_, device::Warp(group_)) == device::no_link;
  }

  // Whoever runs the chain next may do so with any number of parts, so the number is also kept in the entries
  // of parts that have nothing to do here.
  __device__ void keep_step() const {
    EngineWarp::sync();  // every lane has read the number
    const Word busy = min(busy_parts(chain_), EngineWarp::parts());
    for (Word e = EngineWarp::part() + engine::lane() * busy; e < device::max_parts; e += warp_lanes * busy)
      chain_.steps[e] = step();
  }

  // Whether the step is given up, because it has taken `ns` already, a partner is gone or the world has met
  // an error.
  __device__ bool is_over(std::uint64_t ns) {
    const device::WaitLimits& limits = chain_.limits;
    if (ns > limits.limit_ns && engine::lane() == 0) device::end_wait_in_vain(limits);
    const bool over = engine::lane() == 0 &&
                      (device::load_relaxed(limits.over) != 0 || device::load_relaxed(limits.abort) != 0);
    good_ = good_ && !EngineWarp::any(over);
    return !good_;
  }

  // Whether the step has taken so long that the host would like to know who is missing, well before it is
  // given up.
  __device__ bool is_late(std::uint64_t ns) const {
    constexpr std::uint64_t late_ns = 10'000'000;
    return ns > min(late_ns, chain_.limits.limit_ns / 2);
  }

  // A part is busy when it has anything to do: unit u is carried by part u mod parts, and part 0 gives
  // permissions.
  static __device__ Word busy_parts(const DeviceChain& chain) {
    return max(max(max(chain.chunks_out, chain.chunks_in), max(chain.segments_out, chain.segments_in)), 1u);
  }
  static __device__ Word busy_blocks(const DeviceChain& chain) { return min(busy_parts(chain), gridDim.x); }
  // Counts the busy warps of the calling block, which are the group's first ones.
  static __device__ Word busy_warps(const DeviceChain& chain) {
    const Word parts = busy_parts(chain);
    return parts > blockIdx.x ? min((parts - blockIdx.x - 1) / gridDim.x + 1, workers_in_group) : 0;
  }
};

}  // namespace tca::cuda::engine
