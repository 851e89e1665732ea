// What the launcher's child processes do, from the fork on.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "tag.hpp"

namespace tca::tool {

// Outlives a launcher that was killed, and then kills the group: PR_SET_PDEATHSIG ends only the ranks
// themselves, not what a rank that is a script has started. As the leader of the group it also keeps the
// group's number taken.
[[noreturn]] void become_guard(int lifeline);

// Everything a rank needs after the fork, made before it.
struct RankStart {
  std::string program;
  std::vector<char*> argv;
  std::vector<char*> environment;
  pid_t launcher;
  pid_t group;
  sigset_t signals;  // the mask
  rlimit files;
  int null;       // /dev/null
  int exec_said;  // takes errno when the program cannot be run
};

// `cpu` is -1 for a rank that is not bound.
[[noreturn]] void become_rank(const RankStart& start, bool takes_stdin, int cpu,
                              const TaggedOutput::Ends& output);

}  // namespace tca::tool
