// A lock that takes one exchange where nobody else wants it: for a rank whose thread is alone nearly always.
#pragma once

#include <atomic>
#include <thread>

namespace tca::p2p {

class Lock {
 public:
  // Pairs with `unlock`: what the last holder did is visible.
  bool try_lock() { return !is_held_.exchange(true, std::memory_order_acquire); }
  void lock() {
    while (!try_lock())
      for (unsigned looks = 0; is_held_.load(std::memory_order_relaxed); ++looks)
        if (looks > 100) std::this_thread::yield();
  }
  void unlock() { is_held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> is_held_{false};
};

}  // namespace tca::p2p
