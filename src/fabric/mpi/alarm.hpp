// A time limit for calls of MPI's that block and that nothing can end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tca::mpi {

// When it lives longer than the time limit the process ends, with Errc::timed_out for an exit code and `message` on stderr.
class Alarm {
 public:
  Alarm(std::chrono::milliseconds time_limit, std::string message);
  Alarm(const Alarm&) = delete;
  ~Alarm();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace tca::mpi
