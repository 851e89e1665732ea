// A Worker is one of the library's own threads. It takes none of the program's signals, is told when to
// stop, and is joined when its object is destroyed.
//
// A forked child has a copy of the object, but not the thread: there the object only forgets it. Whatever
// the thread had locked at the time of the fork stays locked in the child.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <thread>

namespace tca::base {

class Worker {
 public:
  // Has no thread.
  Worker() = default;

  // Runs `work` on a separate thread, until it returns. `work` looks at its argument to see when to stop,
  // or registers a std::stop_callback with it. Throws Error{out_of_memory}, which says what the thread is
  // for, if the system cannot start one.
  Worker(const char* what_for, std::function<void(const std::stop_token&)> work);

  // Has `look` called after every pause. Stopping ends a pause at once.
  static Worker every(const char* what_for, std::chrono::microseconds pause, std::function<void()> look);

  Worker(Worker&&) = default;
  Worker& operator=(Worker&& other) noexcept {
    stop();
    thread_ = std::move(other.thread_);
    process_ = other.process_;
    return *this;
  }
  ~Worker() { stop(); }

  // Returns whether there is a thread that has not been stopped. Its function may have returned by itself.
  bool is_running() const;

  // Tells the thread to stop, and returns when it has. May be repeated.
  void stop();

 private:
  std::jthread thread_;
  pid_t process_ = 0;  // that started it
};

}  // namespace tca::base
