// The signals that the launcher acts on, read from a descriptor instead of caught by handlers.
#include "cli/launch/signals.hpp"

#include <sys/signalfd.h>

namespace tca::tool {
namespace {

// A signal is ignored under nohup, or when a shell runs this process in the background.
bool is_ignored(int number) {
  struct sigaction action {};
  sigaction(number, nullptr, &action);
  return action.sa_handler == SIG_IGN;
}

}  // namespace

Signals::Signals() {
  // A parent that ignores SIGCHLD would make the kernel reap the ranks before this process sees how they
  // ended.
  signal(SIGCHLD, SIG_DFL);
  sigset_t watched;
  sigemptyset(&watched);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP, SIGCHLD})
    if (!is_ignored(number)) sigaddset(&watched, number);
  sigprocmask(SIG_BLOCK, &watched, &before_);
  fd_ = Fd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
}

Signals::~Signals() {
  // A signal that came late must not end this process in place of its exit code.
  while (next() != 0) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::next() {
  signalfd_siginfo info;
  return read(fd_.get(), &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

void Signals::stop_here() const {
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, SIGTSTP);
  raise(SIGTSTP);
  sigprocmask(SIG_UNBLOCK, &stop, nullptr);
  sigprocmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace tca::tool
