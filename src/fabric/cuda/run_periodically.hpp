// Calls a function at regular intervals, on one of the fabric's threads.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

#include "base/system/signals.hpp"

namespace tca::cuda {

// Calls `look` after every pause until it is asked to stop. The request ends a pause at once.
template <class Look>
void run_periodically(std::chrono::microseconds pause, const std::stop_token& stop, const Look& look) {
  base::leave_signals_to_others();
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stopped.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) look();
}

}  // namespace tca::cuda
