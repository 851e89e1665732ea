// The benchmark's kernels as the host sees them. Pointers are to device memory; nothing here waits for the device.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "himeno/region.hpp"
#include "tca/device_chain.hpp"
#include "tca/device_team.hpp"

namespace tca::himeno {

// The arrays beside the pressure, in the order of Kernel::coefficients().
enum Coefficient : unsigned { a0, a1, a2, a3, b0, b1, b2, c0, c1, c2, bnd, wrk1, coefficient_count };

constexpr Word task_cells = Word{1} << Region::warp_bits;

// Coefficients of a task's cells, four of a cell's beside each other: threads that read 16 bytes each take whole lines of the cache and
// every bank of shared memory in turn.
struct alignas(16) TaskCoefficients {
  static constexpr unsigned quads = coefficient_count / 4;
  static_assert(quads * 4 == coefficient_count);

  float of[quads][task_cells][4];

  TCA_DEVICE float& at(unsigned coefficient, Word lane) { return of[coefficient / 4][lane][coefficient % 4]; }
  // In bytes.
  static TCA_DEVICE Word offset(unsigned quad, Word lane) {
    return (quad * task_cells + lane) * sizeof(of[0][0]);
  }
};

// [begin, end)
struct Tasks {
  Word begin = 0, end = 0;

  TCA_DEVICE Word count() const { return end - begin; }
};

// What a rank computes in an iteration: the tasks of its region, those of its shell first. The coefficients stand in the
// order in which tasks need them, wherever their cells are.
struct Work {
  Region region;
  Word shell_tasks = 0;
  const TaskCoefficients* coefficients = nullptr;  // of each task

  TCA_DEVICE Tasks shell() const { return {0, shell_tasks}; }
  TCA_DEVICE Tasks core() const { return {shell_tasks, region.tasks}; }
};

// Which way an iteration goes through tasks. Iterations take turns, so that each begins with what the one before has read
// last, which is still in the cache when not all of it fits.
enum class Direction { forwards, backwards };

// Writes the tasks' new pressure and, for each of `blocks`, its sum of squared changes.
struct Sweep {
  Tasks tasks;
  double* sums;
  unsigned blocks;
};
unsigned blocks_for(Tasks tasks, int multiprocessors);
cudaError_t launch_sweep(const Work& work, const Sweep& sweep, Direction direction, const float* p,
                         float* next, cudaStream_t stream);

// The sum of `count` values.
cudaError_t launch_total(const double* sums, unsigned count, double* total, cudaStream_t stream);

// Iterations in one kernel: `halos[which]` fills the ghosts of pressure `which`, and the last iteration's residual over all
// ranks goes to `residual`. It ends early once a partner has been waited for in vain.
struct Run {
  Work work;
  float* pressure[2];
  int current;  // which of them holds the present pressure
  std::int64_t iterations;
  double* sums;  // room for one of each block
  double* residual;
};
struct Partners {
  DeviceChain halos[2];
  DeviceTeam team;
};

// How many blocks may run at once when `ranks` share the GPU, and do not wait for each other in vain.
cudaError_t blocks_at_once(unsigned ranks, unsigned& blocks);
cudaError_t launch_run(const Run& run, const Partners& partners, unsigned blocks, cudaStream_t stream);

}  // namespace tca::himeno
