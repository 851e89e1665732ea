// A time limit for MPI calls that block and cannot be interrupted.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

#include "base/system/worker.hpp"
#include "base/waited.hpp"

namespace tca::mpi {

// A Watchdog is a thread that watches one call at a time, so that calls do not need a thread each.
class Watchdog {
 public:
  Watchdog();
  Watchdog(const Watchdog&) = delete;

  // A watched call. If it lasts longer than the time limit, the process ends with Errc::timed_out as its
  // exit code, and with a message on stderr that begins with `what`.
  class Call {
   public:
    Call(Watchdog& watchdog, std::chrono::milliseconds time_limit, std::string what);
    Call(const Call&) = delete;
    ~Call();

   private:
    friend class Watchdog;
    Watchdog& watchdog_;
    std::chrono::milliseconds time_limit_;
    std::string what_;
    base::Waited waited_;
  };

 private:
  void look();

  std::mutex mutex_;  // guards the call
  Call* call_ = nullptr;
  base::Worker thread_;
};

}  // namespace tca::mpi
