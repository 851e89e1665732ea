#include "base/system/worker.hpp"

#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <mutex>
#include <system_error>
#include <utility>

#include "base/fail.hpp"
#include "base/system/limits.hpp"

namespace tca::base {

namespace {

// Signals are then delivered to the program's threads.
void leave_signals_to_others() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Worker::Worker(const char* what_for, std::function<void(const std::stop_token&)> work) try
    : thread_([work = std::move(work)](const std::stop_token& stop) {
        leave_signals_to_others();
        work(stop);
      }),
      process_(getpid()) {
} catch (const std::system_error& error) {
  fail(Errc::out_of_memory, "no thread for {}: {}", what_for, thread_limit_met(error.code().value()));
}

// What a pause waits on belongs to the thread, since a forked child could not destroy it.
Worker Worker::every(const char* what_for, std::chrono::microseconds pause, std::function<void()> look) {
  return {what_for, [pause, look = std::move(look)](const std::stop_token& stop) {
            std::mutex mutex;
            std::condition_variable_any stopped;
            std::unique_lock lock(mutex);
            while (!stopped.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); })) look();
          }};
}

bool Worker::is_running() const { return thread_.joinable() && process_ == getpid(); }

void Worker::stop() {
  if (!thread_.joinable()) return;
  if (!is_running()) return thread_.detach();
  thread_.request_stop();
  thread_.join();
}

}  // namespace tca::base
