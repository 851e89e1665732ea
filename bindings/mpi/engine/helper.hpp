// A thread that sleeps at a rank's door, and works when somebody knocks.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "mpi/engine/peers.hpp"

namespace tca::p2p {

class Helper {
 public:
  // Throws std::bad_alloc where the system gives no thread.
  Helper(Door& door, std::function<void()> work);
  ~Helper();

 private:
  void run();

  Door& door_;
  std::function<void()> work_;
  std::atomic<bool> is_over_{false};
  pid_t process_;
  std::thread thread_;
};

}  // namespace tca::p2p
