#include <algorithm>
#include <type_traits>

#include "fabric/cuda/kernels.hpp"
#include "fabric/cuda/launch/launch.hpp"
#include "tca/device/part.cuh"
#include "tca/team.cuh"

namespace tca::cuda {

namespace {

// What kernels of chains without counted puts have in place of Lengths.
struct NoLengths {
  static constexpr Word come_count = 0;
};

__device__ void set(const NoLengths&, Word, Word) {}
__device__ void set(const Lengths& lengths, Word lane, Word lanes) {
  const Word count = min(lengths.sent_count, Lengths::inlined);
  for (Word i = lane; i < count; i += lanes)
    if (lengths.given[i] != device::no_length) lengths.sent[i] = lengths.given[i];
}

// Tells the host the lengths of what has arrived.
__device__ void land(const NoLengths&) {}
__device__ void land(const Lengths& lengths) {
  for (Word i = 0; i < lengths.come_count; ++i)
    device::store_relaxed(lengths.landed + i, device::load_relaxed(lengths.come + i));
}

__device__ device::Block block_for(const NoLengths&) { return device::Block::of_grid(); }
__device__ device::TimedBlock block_for(const TimedLengths& taken) {
  return {device::Block::of_grid(), taken.times};
}
__device__ device::Block block_for(const Lengths&) { return device::Block::of_grid(); }

template <class L>
using BlockOf = std::conditional_t<std::is_same_v<L, TimedLengths>, device::TimedBlock, device::Block>;
enum class Copies { by_engine, by_blocks };
enum class Receives { now, later };

// A block's part of a chain on a stream. A kernel begins only when the previous one has ended, so blocks
// need no other ordering among themselves.
template <class L>
class StreamPart : public device::ChainPart<BlockOf<L>> {
  using Part = device::ChainPart<BlockOf<L>>;
  using Part::chain_, Part::good_, Part::group_;

 public:
  __device__ StreamPart(const DeviceChain& chain, const L& lengths, Receives receives,
                        Copies copies = Copies::by_engine)
      : Part(chain, block_for(lengths), device::PartsStart::with_kernel, copies == Copies::by_engine,
             receives == Receives::later) {
    wait_for_previous_kernel();
    this->read_step();
  }

  // Takes over what the host has set, for this part: every part stores the same.
  __device__ void set(const L& lengths) const { cuda::set(lengths, group_.lane(), group_.lanes()); }

  // Called when this part has finished the step or has given up on it. The host learns of a step that all
  // parts have finished, and may then start the next one at once by other means, so the step's number is
  // kept before.
  __device__ void finish() { this->keep_step(); }
  __device__ void finish(const L& lengths, const Done& done) {
    this->keep_step();
    if (done.word == nullptr && lengths.come_count == 0) return;
    group_.sync();
    if (group_.lane() != 0 || !good_) return;
    const Word last = group_.parts() - 1;
    // Acquire: the last part sees the lengths that any part has received.
    if (device::count_up(chain_.count, last) != last) return;
    land(lengths);
    // Release: a host that sees the ticket finds everything in place.
    if (done.word != nullptr) device::store_release(done.word, done.ticket);
  }

  // Ends an attempt. Once the host has learned of it, nothing of the step is on its way.
  __device__ void end_attempt(const L& lengths, Word* outcome, Word reached) {
    group_.sync();
    if (group_.lane() != 0 || !good_) return;
    if (reached == attempt_over) land(lengths);
    device::store_release(outcome, reached);
  }
};

template <class L>
__global__ void __launch_bounds__(256)
    start_kernel(const __grid_constant__ DeviceChain chain, const __grid_constant__ L lengths) {
  StreamPart running(chain, lengths, Receives::later);
  running.set(lengths);
  running.start();
  running.finish();
}

template <class L>
__global__ void __launch_bounds__(256)
    wait_kernel(const __grid_constant__ DeviceChain chain, const __grid_constant__ L lengths, Done done) {
  StreamPart running(chain, lengths, Receives::now);
  running.wait();
  running.finish(lengths, done);
}

template <class L>
__global__ void __launch_bounds__(256)
    exchange_kernel(const __grid_constant__ DeviceChain chain, const __grid_constant__ L lengths, Done done) {
  StreamPart running(chain, lengths, Receives::later);
  running.set(lengths);
  running.start();
  running.prepare_to_receive();
  running.wait();
  running.finish(lengths, done);
}

// No copy engine takes part in an attempt: the blocks move everything themselves.
template <class L>
__global__ void __launch_bounds__(256)
    attempt_kernel(const __grid_constant__ DeviceChain chain, const __grid_constant__ L lengths, bool sent,
                   Word* outcome) {
  StreamPart running(chain, lengths, Receives::now, Copies::by_blocks);
  if (!sent) running.set(lengths);
  sent = sent || running.try_start(true);
  const bool is_over = sent && running.try_wait(true);
  running.finish();
  if (is_over) running.acknowledge();
  running.end_attempt(lengths, outcome, is_over ? attempt_over : sent ? attempt_sent : attempt_unsent);
}

__global__ void lengths_kernel(const __grid_constant__ Lengths lengths) {
  set(lengths, threadIdx.x, blockDim.x);
}

__device__ bool by_copy_engine(const device::Stores& put) { return put.by_copy_engine; }

__global__ void permission_kernel(const __grid_constant__ DeviceChain chain) {
  const Word step = chain.steps[0];
  for (Word i = threadIdx.x; i < chain.stores.count; i += blockDim.x) {
    const device::Stores put = chain.stores[i];
    if (by_copy_engine(put) && put.ready != nullptr) device::await(put.ready, step, put.link, chain.limits);
  }
}

__global__ void signals_kernel(const __grid_constant__ DeviceChain chain) {
  // If permission did not arrive, nobody must take what the copies have stored regardless for an arrival.
  if (device::load_relaxed(chain.limits.over) != 0) return;
  const Word step = chain.steps[0];
  Word first = 0;
  for (Word i = 0; i < chain.stores.count; ++i) {
    const device::Stores put = chain.stores[i];
    for (Word s = threadIdx.x; by_copy_engine(put) && s < put.end_segment - first; s += blockDim.x) {
      device::store_release(put.arrived + s, step);
    }
    first = put.end_segment;
  }
}

__global__ void __launch_bounds__(512)
    allreduce_sum_kernel(const __grid_constant__ DeviceTeam team, double* values, Word count) {
  BlockTeam(team).allreduce_sum(values, count);
}

// Calls launch(taken) with what a chain's kernels take: those without counted puts look at no lengths, and
// those that are not timed know nothing of times.
template <class Launch>
void with(const TimedLengths& lengths, const Launch& launch) {
  if (lengths.times.count > 0)
    launch(lengths);
  else if (lengths.sent_count + lengths.come_count > 0)
    launch(static_cast<const Lengths&>(lengths));
  else
    launch(NoLengths());
}

}  // namespace

void launch_start(const DeviceChain& chain, const TimedLengths& lengths, Grid grid, cudaStream_t stream) {
  with(lengths, [&](const auto& taken) {
    launch("starting a chain", start_kernel<std::decay_t<decltype(taken)>>, grid, stream, chain, taken);
  });
}

void launch_wait(const DeviceChain& chain, const TimedLengths& lengths, Grid grid, Done done,
                 cudaStream_t stream) {
  with(lengths, [&](const auto& taken) {
    launch("waiting for a chain", wait_kernel<std::decay_t<decltype(taken)>>, grid, stream, chain, taken,
           done);
  });
}

void launch_exchange(const DeviceChain& chain, const TimedLengths& lengths, Grid grid, Done done,
                     cudaStream_t stream) {
  with(lengths, [&](const auto& taken) {
    launch("running a chain", exchange_kernel<std::decay_t<decltype(taken)>>, grid, stream, chain, taken,
           done);
  });
}

void launch_lengths(const Lengths& lengths, cudaStream_t stream) {
  lengths_kernel<<<1, Lengths::inlined, 0, stream>>>(lengths);
  check(cudaGetLastError(), "setting the lengths of a chain");
}

void launch_attempt(const DeviceChain& chain, const TimedLengths& lengths, bool sent, Word* outcome,
                    cudaStream_t stream) {
  with(lengths, [&](const auto& taken) {
    attempt_kernel<std::decay_t<decltype(taken)>><<<1, 256, 0, stream>>>(chain, taken, sent, outcome);
  });
  check(cudaGetLastError(), "running a chain");
}

void launch_permission(const DeviceChain& chain, cudaStream_t stream) {
  permission_kernel<<<1, 32, 0, stream>>>(chain);
  check(cudaGetLastError(), "starting a chain's copies");
}

void launch_signals(const DeviceChain& chain, cudaStream_t stream) {
  signals_kernel<<<1, 128, 0, stream>>>(chain);
  check(cudaGetLastError(), "signalling a chain's copies");
}

void launch_allreduce_sum(const DeviceTeam& team, double* values, Word count, cudaStream_t stream) {
  const unsigned threads = count * team.size <= 32 ? 32 : std::min(512u, (count + 31) / 32 * 32);
  allreduce_sum_kernel<<<1, threads, 0, stream>>>(team, values, count);
  check(cudaGetLastError(), "summing over all ranks");
}

void load_kernels() {
  cudaFuncAttributes attributes{};
  for (const void* kernel :
       {reinterpret_cast<const void*>(start_kernel<NoLengths>),
        reinterpret_cast<const void*>(start_kernel<Lengths>),
        reinterpret_cast<const void*>(start_kernel<TimedLengths>),
        reinterpret_cast<const void*>(wait_kernel<NoLengths>),
        reinterpret_cast<const void*>(wait_kernel<Lengths>),
        reinterpret_cast<const void*>(wait_kernel<TimedLengths>),
        reinterpret_cast<const void*>(exchange_kernel<NoLengths>),
        reinterpret_cast<const void*>(exchange_kernel<Lengths>),
        reinterpret_cast<const void*>(exchange_kernel<TimedLengths>),
        reinterpret_cast<const void*>(attempt_kernel<NoLengths>),
        reinterpret_cast<const void*>(attempt_kernel<Lengths>),
        reinterpret_cast<const void*>(attempt_kernel<TimedLengths>),
        reinterpret_cast<const void*>(permission_kernel), reinterpret_cast<const void*>(lengths_kernel),
        reinterpret_cast<const void*>(allreduce_sum_kernel), reinterpret_cast<const void*>(signals_kernel)}) {
    check(cudaFuncGetAttributes(&attributes, kernel),
          "loading OpenTCA's kernels (built for sm_80, sm_90 and later)");
  }
}

}  // namespace tca::cuda
