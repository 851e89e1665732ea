// The signals that the launcher acts on, read from a descriptor instead of caught by handlers.
#pragma once

#include <signal.h>

#include "cli/launch/fd.hpp"

namespace tca::tool {

// Receives SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGCHLD during its lifetime, except those that were ignored
// before.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_.get(); }

  // The signal mask from before, which the ranks get.
  const sigset_t& before() const { return before_; }

  // Returns the next signal that has arrived, or 0.
  int next();

  // Does what SIGTSTP does to a process that does not watch it. Returns after SIGCONT.
  void stop_here() const;

 private:
  sigset_t before_{};
  Fd fd_;
};

}  // namespace tca::tool
