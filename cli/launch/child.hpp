// The launcher's child processes, from the fork on.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "cli/launch/input.hpp"
#include "cli/launch/tag.hpp"

namespace tca::tool {

// Becomes the guard, which outlives a launcher that was killed and then kills the process group:
// PR_SET_PDEATHSIG ends only the ranks themselves, not what a rank that is a script has started. As the
// leader of the group the guard also keeps the group's number taken. What else it has to do at the end
// arrives through the lifeline, as a LastWill.
[[noreturn]] void become_guard(int lifeline);

struct LastWill {
  // A member that ends processes outside of the group, as mpirun does. It gets SIGTERM, and time, before the
  // group is killed.
  pid_t asked_first = -1;
  char scratch[128] = {};  // a folder to be removed
};

// Removes the folder and all that is in it; does nothing when the name is empty.
void remove_scratch(const char* folder);

// Everything that a rank needs after the fork. It is made before the fork.
struct RankStart {
  std::string program;
  std::vector<char*> argv;
  std::vector<char*> environment;
  pid_t launcher;
  pid_t group;
  sigset_t signals;  // the signal mask
  rlimit files;
  int control;    // where the ranks meet; one in namespaces of its own cannot open it by its name
  int null;       // /dev/null
  int exec_said;  // receives errno when the program cannot be run
  int orphaned;   // the signal that the rank gets when the launcher has died
};

// Becomes a rank, bound to `cpus` unless there are none.
[[noreturn]] void become_rank(const RankStart& start, const Input::End& input, std::span<const int> cpus,
                              const TaggedOutput::Ends& output);

}  // namespace tca::tool
