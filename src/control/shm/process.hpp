// Queries processes: whether one still exists, when it started and who started it. Also makes this process
// end together with the one that started it.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace tca::shm {

// Returns when a process started, in clock ticks since boot; 0 if this cannot be read. PIDs are reused, but
// not with the same start time.
std::uint64_t time_of_start(pid_t pid);

// Returns whether the process that started at `began` has ended; with 0, whichever process has the PID now.
// False for this process itself.
bool process_ended(pid_t pid, std::uint64_t began);

// Returns the nearest ancestor of this process that was not started with an environment variable: the one
// that has set it for what it started, directly or through scripts.
pid_t nearest_without(const std::string& variable);

// Returns how many of its ancestors, from the parent up, were started with `variable` set to `value`, as
// this process was. A launcher is not, unlike the ranks that it starts and what they start.
int generations_with(const std::string& variable, const std::string& value);

// Returns the number of the PID namespace that this process is in; 0 if it cannot be read.
std::uint32_t own_pid_namespace();

// While this object lives, this process is killed when the one that started it, a launcher or a wrapper
// script, ends. mpirun requests no such signal, and that of `tca run` would stop at the wrapper. The kernel
// sends it when the starting thread ends, not the process; therefore nothing is requested if the starter is
// a program with several threads, one of which has started this rank.
class EndsWithStarter {
 public:
  // `rank_variable`: the environment variable that tells this process its rank. A launcher itself does not
  // have it.
  explicit EndsWithStarter(const std::string& rank_variable);
  EndsWithStarter(const EndsWithStarter&) = delete;
  // Only the thread that made the object can undo what it does.
  ~EndsWithStarter();

 private:
  pid_t thread_ = 0;  // 0 if there is nothing to undo
};

}  // namespace tca::shm
