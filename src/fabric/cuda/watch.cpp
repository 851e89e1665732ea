#include "fabric/cuda/watch.hpp"

#include "fabric/cuda/run_periodically.hpp"

namespace tca::cuda {

namespace {

using namespace std::chrono_literals;

// One look costs a few system calls for each rank.
constexpr auto between_looks = 50ms;

void watch(const std::stop_token& stop, const control::Control& control, device::Word* gone) {
  run_periodically(between_looks, stop, [&] {
    for (int rank = 0; rank < control.size(); ++rank) {
      if (rank != control.rank() && control.is_gone(rank)) device::store_relaxed(gone + rank, 1);
    }
  });
}

}  // namespace

Watch::Watch(const control::Control& control, device::Word* gone) {
  if (control.size() > 1)
    thread_ = std::jthread([&control, gone](const std::stop_token& stop) { watch(stop, control, gone); });
}

}  // namespace tca::cuda
