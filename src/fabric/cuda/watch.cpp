#include "fabric/cuda/watch.hpp"

#include <condition_variable>
#include <mutex>

#include "base/signals.hpp"

namespace tca::cuda {

namespace {

using namespace std::chrono_literals;

// A look is a few system calls a rank.
constexpr auto between_looks = 50ms;

void watch(const std::stop_token& stop, const fabric::Control& control, device::Word* gone) {
  base::leave_signals_to_others();
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  while (!stopped.wait_for(lock, stop, between_looks, [&] { return stop.stop_requested(); })) {
    for (int rank = 0; rank < control.size(); ++rank) {
      if (rank != control.rank() && control.is_gone(rank)) device::store_relaxed(gone + rank, 1);
    }
  }
}

}  // namespace

Watch::Watch(const fabric::Control& control, device::Word* gone) {
  if (control.size() > 1)
    thread_ = std::jthread([&control, gone](const std::stop_token& stop) { watch(stop, control, gone); });
}

}  // namespace tca::cuda
