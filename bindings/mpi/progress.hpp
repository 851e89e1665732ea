// What a rank does while it waits in a served call: MPI progresses its other messages, as in a call of MPI.
#pragma once

#include <chrono>

namespace tca::interposer {

// MPI waits for ever.
inline constexpr std::chrono::milliseconds no_limit = std::chrono::hours(24 * 365);

// The first call makes a communicator, by this rank alone.
void progress_mpi();

// Runs a step of a collective or of a chain.
template <class Step>
void run_beside_mpi(Step& step) {
  step.start();
  for (int look = 0; look < 64; ++look)
    if (step.test()) return;
  while (!step.wait_for(std::chrono::microseconds(5))) progress_mpi();
}

}  // namespace tca::interposer
