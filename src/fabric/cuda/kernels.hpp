// The kernels with which the host runs a chain on a stream.
#pragma once

#include "fabric/cuda/call.hpp"
#include "tca/device/team.hpp"
#include "tca/device/times.hpp"

namespace tca::cuda {

using device::Word;

struct Grid {
  unsigned blocks = 1;
  unsigned threads = 256;
};

// Tells the host of a finished step: the last block stores `ticket`.
struct Done {
  Word* word = nullptr;  // in pinned host memory; null if nobody is told
  Word ticket = 0;
};

// The lengths of a chain's counted puts. A kernel that starts a step takes those that the host has set from
// its parameters, so that a graph repeats them; one that waits stores those that have arrived where the
// host reads them.
struct Lengths {
  static constexpr Word inlined = 16;
  Word* sent = nullptr;        // see device::Counted
  const Word* come = nullptr;  // as many as `landed`, which is pinned
  Word* landed = nullptr;
  Word sent_count = 0, come_count = 0;
  Word given[inlined] = {};  // for the first of `sent`; device::no_length if kernels have set it
};

// The same, and where the times of a timed chain are kept.
struct TimedLengths : Lengths {
  device::Times times = {};
};

void launch_start(const DeviceChain& chain, const TimedLengths& lengths, Grid grid, cudaStream_t stream);
void launch_wait(const DeviceChain& chain, const TimedLengths& lengths, Grid grid, Done done,
                 cudaStream_t stream);
void launch_exchange(const DeviceChain& chain, const TimedLengths& lengths, Grid grid, Done done,
                     cudaStream_t stream);

// Sets those lengths ahead of a start that has too many for its parameters.
void launch_lengths(const Lengths& lengths, cudaStream_t stream);

// Runs, in one block, as much of a step as needs no waiting. `sent` says whether an earlier attempt has
// sent the step. `outcome` (pinned) receives how far the step has got.
inline constexpr Word attempt_unsent = 1, attempt_sent = 2, attempt_over = 3;
void launch_attempt(const DeviceChain& chain, const TimedLengths& lengths, bool sent, Word* outcome,
                    cudaStream_t stream);

// These run before and after the copies of a copy engine: one waits for the partners' permission, the other
// raises the signals.
void launch_permission(const DeviceChain& chain, cudaStream_t stream);
void launch_signals(const DeviceChain& chain, cudaStream_t stream);

void launch_allreduce_sum(const DeviceTeam& team, double* values, Word count, cudaStream_t stream);

// Loads every kernel. If a kernel were loaded at its first launch, it could wait for kernels that wait for
// it.
void load_kernels();

}  // namespace tca::cuda
