// Whether the ranks had their processors to themselves while something was measured.
#pragma once

#include <chrono>
#include <string>

namespace tca::bench {

// Returns how often another thread has been let onto this thread's processor.
long disturbances();

class Crowding {
 public:
  // What follows is measured, by this thread.
  Crowding() = default;

  // Returns what whoever reads the times should know, with an end of line, or nothing.
  std::string in_words(int ranks, int processors) const;

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  long before_ = disturbances();
};

}  // namespace tca::bench
