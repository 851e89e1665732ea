// The kernels as the host sees them. Pointers are to device memory unless said otherwise; nothing here waits for the device.
#pragma once

#include <cuda_runtime.h>

#include "qcd/gpu_bicgstab.hpp"
#include "tca/device_team.hpp"

namespace tca::qcd {

// What the blocks of a grid share.
struct GridMemory {
  std::uint64_t* barrier = nullptr;  // zero at first
  double* partials = nullptr;        // sum_count of each block
  double* totals = nullptr;          // sum_count
};

// A whole solve. `history` and `outcome` are in pinned host memory.
struct SolveCall {
  Aim aim;
  GridMemory memory;
  double* history = nullptr;
  Outcome* outcome = nullptr;
  unsigned blocks = 1;
  bool alone = false;  // a multiprocessor has one block
};

// Fills in the grid of a solve, for a lattice of `chunks` for each parity, when `ranks` share the GPU: no blocks when there are
// too many of them.
template <class T, int reals>
cudaError_t plan_solve(bool mixed, unsigned chunks, unsigned ranks, SolveCall& call);

template <class T, int reals>
cudaError_t launch_solve(const SolveFields<T>& fields, const DeviceTeam& team, const SolveCall& call,
                         cudaStream_t stream);
template <int reals>
cudaError_t launch_solve_mixed(const SolveFields<float>& fields, const SolveFields<double>& exact,
                               const DeviceTeam& team, const SolveCall& call, cudaStream_t stream);

// A field of the even or of the odd sites, between the host's order and the kernels', and between precisions.
cudaError_t launch_to_units(const double* from, double* to, Word sites, Word rhs, cudaStream_t stream);
cudaError_t launch_from_units(const double* from, double* to, Word sites, Word rhs, cudaStream_t stream);
cudaError_t launch_narrow(const double* from, float* to, Word sites, Word rhs, cudaStream_t stream);
cudaError_t launch_widen(const float* from, double* to, Word sites, Word rhs, cudaStream_t stream);

// Its steps one by one, for as many right-hand sides as their fields' ground says, up to most_together. Halves cross in windows.

// At most this many blocks, each of which leaves its share of the sums.
inline constexpr unsigned most_hop_blocks = 1024;
inline constexpr Word most_sums = 8;
static_assert(sum_count <= most_sums && residual_sum_count <= most_sums);
unsigned hop_blocks(Word chunks);

// Once on each GPU, before any hop.
template <class T, int reals>
cudaError_t prepare_hops();

// A stage on some chunks, by so many blocks; each leaves its share of the sums in `partials` if the stage has any, sum_count for
// each right-hand side. Early as KernelGrid has it, as all other kernels here are that several steps have.
template <class T, int reals>
cudaError_t launch_hop(const Ground<T>& ground, const Stage<T>& stage, const Chunks& chunks, unsigned blocks,
                       const Crossing<T>& crossing, double* partials, bool early, cudaStream_t stream);

// An exchange of nothing.
template <class T>
cudaError_t launch_meet(const Ground<T>& ground, const Crossing<T>& crossing, bool odd, cudaStream_t stream);

// A field's halves to where they cross.
template <class T>
cudaError_t launch_project(const Ground<T>& ground, const T* field, bool odd, bool dagger,
                           const Chunks& chunks, const Crossing<T>& crossing, cudaStream_t stream);

// Of each of `count` numbers the sum of `shares` shares.
cudaError_t launch_totals(const double* partials, unsigned shares, unsigned count, double* totals,
                          cudaStream_t stream);
// A copy for the host, in pinned memory; see OwnStream::copy for why it is no memcpy.
template <class Kept>
cudaError_t launch_tell(const Kept* steps, unsigned rhs, Steps* host, cudaStream_t stream);

// Conjugate gradients. As `decide`.
cudaError_t launch_decide(CgSteps* steps, unsigned rhs, const double* totals, const History& history,
                          cudaStream_t stream);
// x, r, s and p move on; the halves of p to where they cross.
template <class T>
cudaError_t launch_update(const SolveFields<T>& fields, const CgSteps* steps, const Crossing<T>& crossing,
                          cudaStream_t stream);

// Mixed precision: `propose` and `settle`, `renew` and `go_on`; `take_in` with the halves of x, and `hand_over` with those of r.
cudaError_t launch_settle(CgSteps* steps, unsigned rhs, const double* totals, const History& history,
                          cudaStream_t stream);
cudaError_t launch_go_on(CgSteps* steps, unsigned rhs, const double* totals, const History& history,
                         cudaStream_t stream);
cudaError_t launch_take_in(const SolveFields<float>& search, const SolveFields<double>& exact,
                           const Crossing<double>& crossing, cudaStream_t stream);
cudaError_t launch_hand_over(const SolveFields<float>& search, const SolveFields<double>& exact,
                             const Crossing<float>& crossing, cudaStream_t stream);

// BiCGStab. As the functions of the same names in gpu_bicgstab.hpp, for all numbers of the vectors; sums leave
// shares, as many as `vector_blocks` says.
unsigned vector_blocks(Word numbers);
template <class T>
cudaError_t launch_first_direction(const SolveFields<T>& f, cudaStream_t stream);
template <class T>
cudaError_t launch_overlap(const SolveFields<T>& f, double* partials, cudaStream_t stream);
template <class T>
cudaError_t launch_half_step(const SolveFields<T>& f, const BicgstabSteps* steps, cudaStream_t stream);
template <class T>
cudaError_t launch_residual(const SolveFields<T>& f, double* partials, cudaStream_t stream);
template <class T>
cudaError_t launch_whole_step(const SolveFields<T>& f, const BicgstabSteps* steps, cudaStream_t stream);
cudaError_t launch_begin(BicgstabSteps* steps, unsigned rhs, const double* totals, cudaStream_t stream);
cudaError_t launch_decide_half(BicgstabSteps* steps, unsigned rhs, const double* totals, cudaStream_t stream);
cudaError_t launch_decide(BicgstabSteps* steps, unsigned rhs, const double* totals, const History& history,
                          cudaStream_t stream);

}  // namespace tca::qcd
