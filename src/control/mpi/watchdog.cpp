#include "control/mpi/watchdog.hpp"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "tca/error.hpp"

namespace tca::mpi {

namespace {

// The thread looks at intervals, so that no call has to wake it. A time limit may be overrun by that much.
constexpr std::chrono::milliseconds looks_every{20}, most_between_looks{100};

}  // namespace

Watchdog::Watchdog()
    : thread_(base::Worker::every("the time limit of calls of MPI", looks_every, [this] { look(); })) {}

void Watchdog::look() {
  const std::lock_guard lock(mutex_);
  if (call_ == nullptr) return;
  call_->waited_.look();
  if (call_->waited_.so_far() < call_->time_limit_) return;
  std::fprintf(stderr, "%s did not return within %.1f s, and cannot be left, so this process ends\n",
               call_->what_.c_str(), std::chrono::duration<double>(call_->time_limit_).count());
  std::fflush(stderr);
  _exit(static_cast<int>(Errc::timed_out));
}

Watchdog::Call::Call(Watchdog& watchdog, std::chrono::milliseconds time_limit, std::string what)
    : watchdog_(watchdog), time_limit_(time_limit), what_(std::move(what)), waited_(most_between_looks) {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.call_ = this;
}

Watchdog::Call::~Call() {
  const std::lock_guard lock(watchdog_.mutex_);
  watchdog_.call_ = nullptr;
}

}  // namespace tca::mpi
