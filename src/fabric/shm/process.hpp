// Whether another process is still there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace tca::shm {

// When a process started, in ticks since the host did; 0 where nobody says. Numbers of processes come back, but not with it.
std::uint64_t time_of_start(pid_t pid);

// Whether the process that started then has ended (0: whichever has the number now). False for this process itself.
bool process_ended(pid_t pid, std::uint64_t began);

// The nearest process above this one that was not started with an environment variable: who has set it for what it started, be
// it through scripts.
pid_t nearest_without(const std::string& variable);

// A number of the PID namespace that this process is in; 0 where nobody says.
std::uint32_t own_pid_namespace();

// While it lives, this process is killed when the one that has started it ends, a launcher or a wrapper script: mpirun sets no such
// signal, and that of `tca run` would stop at the wrapper. The kernel sends it when the starting thread ends, not the process, so
// that a program with threads, one of which has started this rank, is left alone.
class EndsWithStarter {
 public:
  // `told_by`: the environment variable that tells this process its rank, and that a launcher itself does not have.
  explicit EndsWithStarter(const std::string& told_by);
  EndsWithStarter(const EndsWithStarter&) = delete;
  // Only the thread that has made it can undo it.
  ~EndsWithStarter();

 private:
  pid_t thread_ = 0;  // 0: there is nothing to undo
};

}  // namespace tca::shm
