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
// group's number taken. What else is to be done then comes through the lifeline.
[[noreturn]] void become_guard(int lifeline);

struct LastWill {
  pid_t asked_first =
      -1;  // a member that ends processes outside of the group: SIGTERM, and time, before the group is killed
  char scratch[128] = {};  // a folder to be removed
};

// With all that is in it; empty does nothing.
void remove_scratch(const char* folder);

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
  int orphaned;   // the signal that it gets when the launcher has died
};

// `cpu` is -1 for a rank that is not bound.
[[noreturn]] void become_rank(const RankStart& start, bool takes_stdin, int cpu,
                              const TaggedOutput::Ends& output);

}  // namespace tca::tool
