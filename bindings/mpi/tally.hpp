// How often each call was served, and why not.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "mpi/coll/communicator.hpp"
#include "mpi/hook.hpp"
#include "mpi/threads.hpp"

namespace tca::interposer {

struct Tally {
  using Ways = std::array<std::int64_t, ways>;
  std::array<Ways, calls> times = {};

  void count(Call call, Way way) {
    std::int64_t& number = times[static_cast<std::size_t>(call)][static_cast<std::size_t>(way)];
    if (threads_are_many)
      std::atomic_ref(number).fetch_add(1, std::memory_order_relaxed);
    else
      ++number;
  }
};
inline Tally tally;

// Prints what all ranks have counted, on rank 0 of the job. Collective.
void report();

}  // namespace tca::interposer
