// The signals that the launcher acts on, read from a descriptor instead of caught by handlers.
#pragma once

#include <signal.h>

#include "fd.hpp"

namespace tca::tool {

// SIGINT, SIGTERM, SIGHUP, SIGTSTP and SIGCHLD arrive here while this lives, except for those ignored before.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int fd() const { return fd_.get(); }

  // The mask that was there before, which the ranks get.
  const sigset_t& before() const { return before_; }

  // The next one that has arrived; 0 when there is none.
  int next();

  // What SIGTSTP does to a process that does not watch it; returns after SIGCONT.
  void stop_here() const;

 private:
  sigset_t before_{};
  Fd fd_;
};

}  // namespace tca::tool
