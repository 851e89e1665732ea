#include "fabric/cuda/watch.hpp"

namespace tca::cuda {

namespace {

using namespace std::chrono_literals;

// One look costs a few system calls for each rank.
constexpr auto between_looks = 50ms;

}  // namespace

Watch::Watch(const control::Control& control, device::Word* gone) {
  if (control.size() == 1) return;
  thread_ = base::Worker::every("watching the other ranks", between_looks, [&control, gone] {
    for (int rank = 0; rank < control.size(); ++rank) {
      if (rank != control.rank() && control.is_gone(rank)) device::store_relaxed(gone + rank, 1);
    }
  });
}

}  // namespace tca::cuda
