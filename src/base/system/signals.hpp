// Keeps the library's own threads from taking the signals of a process.
#pragma once

#include <csignal>

namespace tca::base {

// A thread that the library has started calls this before anything else. Signals then go to the threads of
// the program.
inline void leave_signals_to_others() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace tca::base
