// The processes of one launch: a guard that leads their process group, and the ranks in it.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/launch/fd.hpp"
#include "cli/launch/launch.hpp"
#include "cli/launch/tag.hpp"

namespace tca::tool {

// Thrown when the program cannot be run; `exit_code` is what a shell would return.
struct CannotRun : std::runtime_error {
  CannotRun(int code, const std::string& message) : std::runtime_error(message), exit_code(code) {}
  int exit_code;
};

// Returns the program's path. Throws CannotRun when the program does not exist or cannot run, as far as this
// is known before it runs.
std::string program_to_run(const std::string& name);

// Returns what is said where the system has refused to start it, with this errno.
CannotRun cannot_start(const std::string& program, int error);

struct Ended {
  int rank;
  int status;  // from waitpid
};

class Team {
 public:
  // What ranks print and read, where this process passes it on; `output` may be null.
  struct Streams {
    TaggedOutput* output;
    Input& input;
  };

  // Starts every rank with `rank_signals` as its signal mask. Throws CannotRun or Error{out_of_memory}.
  Team(const LaunchOptions& options, const sigset_t& rank_signals, const Streams& streams);

  // Kills what is left of a team that did not end well, and reaps all of its processes.
  ~Team();

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // Sends a signal to every rank and to the processes that ranks have started.
  void signal(int number) const;

  // Returns the next rank that has ended, if any.
  std::optional<Ended> reap();

  int alive() const { return alive_; }

  const Placement& placement() const { return placement_; }

  // From this call on, the end of the team does not kill what the ranks left running on purpose.
  void ended_well() { ended_well_ = true; }

 private:
  void start_guard();
  void make_scratch() const;
  void tell_guard(pid_t asked_first) const;
  void start_ranks(const LaunchOptions& options, const sigset_t& rank_signals, const Streams& streams);
  void check_started(const std::string& program);
  void end();

  Fd control_;    // the memory that the ranks share; they open it through /proc
  Fd lifeline_;   // closes when this process ends, however it does
  Fd exec_said_;  // errors of a rank before its program ran
  std::string scratch_;
  pid_t guard_ = -1;
  Placement placement_;
  std::vector<pid_t> ranks_;  // -1 once reaped
  int alive_ = 0;
  bool ended_well_ = false;
};

}  // namespace tca::tool
