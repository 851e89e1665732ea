// The host's interface to the benchmark's kernels. Pointers are to device memory. No function here waits for
// the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "himeno/region.hpp"
#include "tca/device/chain.hpp"
#include "tca/device/team.hpp"

namespace tca::himeno {

// The coefficients of a cell, in the order of Kernel::coefficients().
enum Coefficient : unsigned { a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1, coefficient_count };

constexpr Word task_cells = Word{1} << Region::warp_bits;

// The coefficients of a task's cells, with four of each cell next to each other. Threads that read 16 bytes
// each then cover whole cache lines, and every bank of shared memory in turn.
struct alignas(16) TaskCoefficients {
  static constexpr unsigned quads = coefficient_count / 4;
  static_assert(quads * 4 == coefficient_count);

  float of[quads][task_cells][4];

  TCA_DEVICE float& at(unsigned coefficient, Word lane) { return of[coefficient / 4][lane][coefficient % 4]; }
  // Returns the offset in bytes.
  static TCA_DEVICE Word offset(unsigned quad, Word lane) {
    return (quad * task_cells + lane) * sizeof(of[0][0]);
  }
};

// The tasks [begin, end) of a region.
struct Tasks {
  Word begin = 0, end = 0;

  TCA_DEVICE Word count() const { return end - begin; }
};

// What a rank computes in an iteration: the tasks of its region, with those of the shell first. The
// coefficients are stored in the order of the tasks, wherever their cells lie in the array.
struct Work {
  Region region;
  Word shell_tasks = 0;
  const TaskCoefficients* coefficients = nullptr;  // one element for each task

  TCA_DEVICE Tasks shell() const { return {0, shell_tasks}; }
  TCA_DEVICE Tasks core() const { return {shell_tasks, region.tasks}; }
};

// The direction in which an iteration goes through its tasks. Iterations alternate, so that each begins with
// what the one before has read last. That data is still in the cache even when not all of it fits.
enum class Direction { forwards, backwards };

// Writes the new pressure of `tasks`, and the sum of squared changes of each of `blocks`.
struct Sweep {
  Tasks tasks;
  double* sums;
  unsigned blocks;
};
unsigned blocks_for(Tasks tasks, int multiprocessors);
cudaError_t launch_sweep(const Work& work, const Sweep& sweep, Direction direction, const float* p,
                         float* next, cudaStream_t stream);

// Adds up `count` values.
cudaError_t launch_total(const double* sums, unsigned count, double* total, cudaStream_t stream);

// Many iterations in one kernel: `halos[which]` of the Partners fills the ghosts of pressure `which`, and the
// residual of the last iteration over all ranks goes to `residual`. The kernel ends early when a partner has
// not come within the time limit.
struct Run {
  Work work;
  float* pressure[2];
  // Index of the array that holds the present pressure.
  int current;
  std::int64_t iterations;
  double* sums;  // room for one sum per block
  double* residual;
};
struct Partners {
  DeviceChain halos[2];
  DeviceTeam team;
};

// Returns in `blocks` how many blocks a rank may launch when `ranks` share the GPU, so that all of them are
// resident and none waits for a block that cannot run.
cudaError_t blocks_at_once(unsigned ranks, unsigned& blocks);
cudaError_t launch_run(const Run& run, const Partners& partners, unsigned blocks, cudaStream_t stream);

}  // namespace tca::himeno
