#include "fabric/mpi/alarm.hpp"

#include <unistd.h>

#include <cstdio>

#include "base/fail.hpp"

namespace tca::mpi {

Alarm::Alarm(std::chrono::milliseconds time_limit, std::string message)
    : thread_([this, time_limit, message = std::move(message)] {
        std::unique_lock lock(mutex_);
        if (changed_.wait_for(lock, time_limit, [this] { return over_; })) return;
        std::fprintf(stderr, "%s did not return within %.1f s, and cannot be left, so this process ends\n",
                     message.c_str(), std::chrono::duration<double>(time_limit).count());
        std::fflush(stderr);
        _exit(static_cast<int>(Errc::timed_out));
      }) {}

Alarm::~Alarm() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

}  // namespace tca::mpi
