#include "mpi/engine/helper.hpp"

#include <signal.h>
#include <unistd.h>

#include <new>
#include <system_error>
#include <utility>

namespace tca::p2p {

Helper::Helper(Door& door, std::function<void()> work)
    : door_(door), work_(std::move(work)), process_(getpid()) {
  // The program's signals are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw std::bad_alloc();
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Helper::~Helper() {
  if (process_ != getpid()) {  // a forked child has no such thread
    thread_.detach();
    return;
  }
  is_over_.store(true, std::memory_order_release);
  door_.knock();
  thread_.join();
}

void Helper::run() {
  for (;;) {
    const std::uint32_t seen = door_.knocks.load(std::memory_order_acquire);
    if (is_over_.load(std::memory_order_acquire)) return;
    work_();
    door_.sleep(seen);
  }
}

}  // namespace tca::p2p
