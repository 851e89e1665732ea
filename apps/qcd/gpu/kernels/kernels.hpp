// The kernels' interface to the host. Pointers are to device memory unless said otherwise. No function waits
// for the device.
#pragma once

#include <cuda_runtime.h>

#include "qcd/gpu/bicgstab.hpp"
#include "tca/device/team.hpp"

namespace tca::qcd {

// Memory that the blocks of a grid share.
struct GridMemory {
  std::uint64_t* barrier = nullptr;  // initially zero
  double* partials = nullptr;        // sum_count for each block
  double* totals = nullptr;          // sum_count
};

// The arguments of a whole solve. `history` and `outcome` are in pinned host memory.
struct SolveCall {
  Aim aim;
  GridMemory memory;
  double* history = nullptr;
  Outcome* outcome = nullptr;
  unsigned blocks = 1;
  bool alone = false;  // each multiprocessor has a single block
};

// Chooses the grid of a solve, for a lattice with `chunks` chunks of each parity, when `ranks` ranks share
// the GPU. call.blocks is 0 if that is too many ranks.
template <class T, int reals>
cudaError_t plan_solve(bool mixed, unsigned chunks, unsigned ranks, SolveCall& call);

template <class T, int reals>
cudaError_t launch_solve(const SolveFields<T>& fields, const DeviceTeam& team, const SolveCall& call,
                         cudaStream_t stream);
template <int reals>
cudaError_t launch_solve_mixed(const SolveFields<float>& fields, const SolveFields<double>& exact,
                               const DeviceTeam& team, const SolveCall& call, cudaStream_t stream);

// Convert a field of the even or of the odd sites between the host's order and that of the kernels, or
// between precisions.
cudaError_t launch_to_units(const double* from, double* to, Word sites, Word rhs, cudaStream_t stream);
cudaError_t launch_from_units(const double* from, double* to, Word sites, Word rhs, cudaStream_t stream);
cudaError_t launch_narrow(const double* from, float* to, Word sites, Word rhs, cudaStream_t stream);
cudaError_t launch_widen(const float* from, double* to, Word sites, Word rhs, cudaStream_t stream);

// The steps of a solve as single kernels, for ground.rhs right-hand sides, up to most_together. Halves cross
// in windows.

// The largest number of blocks. Each leaves its share of the sums.
inline constexpr unsigned most_hop_blocks = 1024;
inline constexpr Word most_sums = 8;
static_assert(sum_count <= most_sums && residual_sum_count <= most_sums);
unsigned hop_blocks(Word chunks);

// To be called once on each GPU, before any hop.
template <class T, int reals>
cudaError_t prepare_hops();

// Runs a stage on `chunks` with `blocks` blocks. If the stage has sums, each block leaves its share in
// `partials`, sum_count for each right-hand side. `early` is that of KernelGrid; all other kernels here that
// are steps of a solve are early.
template <class T, int reals>
cudaError_t launch_hop(const Ground<T>& ground, const Stage<T>& stage, const Chunks& chunks, unsigned blocks,
                       const Crossing<T>& crossing, double* partials, bool early, cudaStream_t stream);

// Makes an exchange of nothing.
template <class T>
cudaError_t launch_meet(const Ground<T>& ground, const Crossing<T>& crossing, bool odd, cudaStream_t stream);

// Projects a field and stores its halves where they cross.
template <class T>
cudaError_t launch_project(const Ground<T>& ground, const T* field, bool odd, bool dagger,
                           const Chunks& chunks, const Crossing<T>& crossing, cudaStream_t stream);

// Adds up each of `count` numbers over `shares` shares.
cudaError_t launch_totals(const double* partials, unsigned shares, unsigned count, double* totals,
                          cudaStream_t stream);
// Copies the Steps to the host, in pinned memory. OwnStream::copy says why it does not use memcpy.
template <class Kept>
cudaError_t launch_tell(const Kept* steps, unsigned rhs, Steps* host, cudaStream_t stream);

// Conjugate gradients: calls `decide`.
cudaError_t launch_decide(CgSteps* steps, unsigned rhs, const double* totals, const History& history,
                          cudaStream_t stream);
// Moves x, r, s and p on, and stores the halves of p where they cross.
template <class T>
cudaError_t launch_update(const SolveFields<T>& fields, const CgSteps* steps, const Crossing<T>& crossing,
                          cudaStream_t stream);

// Mixed precision. `launch_settle` calls `propose` and `settle`, `launch_go_on` calls `renew` and `go_on`.
// `launch_take_in` also stores the halves of x, and `launch_hand_over` those of r.
cudaError_t launch_settle(CgSteps* steps, unsigned rhs, const double* totals, const History& history,
                          cudaStream_t stream);
cudaError_t launch_go_on(CgSteps* steps, unsigned rhs, const double* totals, const History& history,
                         cudaStream_t stream);
cudaError_t launch_take_in(const SolveFields<float>& search, const SolveFields<double>& exact,
                           const Crossing<double>& crossing, cudaStream_t stream);
cudaError_t launch_hand_over(const SolveFields<float>& search, const SolveFields<double>& exact,
                             const Crossing<float>& crossing, cudaStream_t stream);

// BiCGStab. They call the functions of the same names in gpu/bicgstab.hpp for all numbers of the vectors.
// Sums are left as shares, as many as `vector_blocks` returns.
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
