// The host's interface to the kernels. Pointers are to device memory. No function here waits for the device.
#pragma once

#include <cuda_runtime.h>

#include "spin/gpu/sites.hpp"
#include "spin/sums.hpp"
#include "tca/device/team.hpp"

namespace tca::spin {

// What is found behind some sweeps: the sums, and when the sweeps began and ended on the GPU's clock.
struct Found {
  Sums sums;
  std::uint64_t begin_ns, end_ns;
};

// Half a sweep: updates the cells [begin, end) of a colour. Ghosts of the other one have been filled.
struct HalfSweep {
  Word colour, begin, end, sweep;
};
template <class Real>
cudaError_t launch_half_sweep(Update update, const Sites<Real>& sites, const Cells& cells,
                              const HalfSweep& half, cudaStream_t stream);

// Adds up over this rank's bonds. `partial` has room for `blocks_of_sums` of them.
inline constexpr Word blocks_of_sums = 256;
template <class Real>
cudaError_t launch_sums(const Sites<Real>& sites, const Cells& cells, Sums* partial, Sums* total,
                        cudaStream_t stream);

// Many sweeps in one kernel, and the sums over all ranks behind them; of `numbers` of sweeps the first is `sweep`. The kernel
// ends early when a partner has not come within the time limit.
template <class Real>
struct Run {
  Sites<Real> sites;
  Cells cells;
  Seams<Real> seams;
  device::Progress progress;  // of their chain
  std::uint64_t* barrier;     // zeroed
  DeviceTeam team;
  Word sweep, sweeps;
  Word sums;  // how many are added up over the ranks
  Found* found;
};

// Returns in `blocks` how many blocks a rank may launch when `ranks` share the GPU, so that all of them are resident, and of
// those no more than `cells` need.
template <class Real>
cudaError_t blocks_at_once(unsigned ranks, Word cells, unsigned& blocks);
template <class Real>
cudaError_t launch_run(Update update, const Run<Real>& run, unsigned blocks, cudaStream_t stream);

}  // namespace tca::spin
