// Signals in a process whose threads are not all the program's.
#pragma once

#include <csignal>

namespace tca::base {

// By a thread of the library's own, first of all: signals are for the threads of the program.
inline void leave_signals_to_others() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace tca::base
