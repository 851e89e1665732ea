// A detector's process, seen by the rank that has started it.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace tca::trigger {

class DetectorProcess {
 public:
  // Starts this program with these arguments, which make it a detector. Throws Error{out_of_memory} where it cannot.
  explicit DetectorProcess(const std::vector<std::string>& arguments);
  DetectorProcess(const DetectorProcess&) = delete;
  DetectorProcess& operator=(const DetectorProcess&) = delete;
  // Ends the process if it has not ended.
  ~DetectorProcess();

  // Waits until its events are there. Throws Error{rank_lost} where it has ended instead.
  void wait_until_ready();
  void start();

  // Whether it has sent everything. Throws Error{rank_lost} where it has ended before, with what ended it.
  bool has_ended();

 private:
  void reap(int flags);
  std::string end_in_words() const;

  pid_t pid_ = -1;
  int line_ = -1;  // its stdin and stdout
  std::optional<int> status_;
};

}  // namespace tca::trigger
