// Starts a program as N ranks on this host and waits until every one of them has ended.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/launch/input.hpp"
#include "cli/launch/placement.hpp"

namespace tca::tool {

inline constexpr int max_ranks = 4096;
// On a modelled machine they take turns on one thread.
inline constexpr int most_modelled_ranks = 1 << 20;

// What `--bind` asks for.
struct Binding {
  Bind how = Bind::automatic;
  bool is_told = false;  // the command line has it, so what is done is said
};

struct LaunchOptions {
  std::string name = "tca run";   // begins every message
  int ranks = 1;                  // 1 to max_ranks
  std::vector<std::string> argv;  // the program, found through PATH, and its arguments
  bool argv_is_tca = false;       // the ranks are this program: they tell this process what goes wrong, and
                                  // read no stdin
  bool argv_is_mpirun = false;    // the program is one process, which starts and ends the ranks itself
  std::string scratch;  // a folder made for the launch, and removed with all that is in it at the end
  Binding bind = {};
  std::vector<int> mpirun_cpus =
      {};                       // to which mpirun is confined, and its ranks unless it binds them itself
  int stdin_reader = 0;         // the rank, `nobody` or `everybody`; of mpirun as of rank 0
  bool tag = false;             // begin each line of output with `[rank] `
  bool fails_in_words = false;  // a rank that exits with a code has said why, so nothing is added
  std::vector<std::pair<std::string, std::string>> environment;  // added to each rank's environment
};

// Returns:
// - 0 when every rank has returned 0;
// - otherwise the exit code of the rank that failed first (128 + signal when it was killed);
// - 128 + signal when this process was interrupted;
// - 126 or 127 when the program cannot run or does not exist.
// All ranks have ended by then, and one line on stderr has said why. Throws Error{invalid_argument} for a
// number of ranks out of range, and Error{out_of_memory} when the system refuses to start so many.
int launch(const LaunchOptions& options);

// Launches through mpirun, which itself says what happened to a rank, and returns its exit code. `tag` has no
// effect. Returns 127 after one line on stderr when there is no mpirun.
int launch_under_mpirun(LaunchOptions options);

bool has_mpirun();

// Returns where a launch through mpirun would put its ranks. mpirun binds each rank to a core of its own;
// where it does not begin at free cores, it is confined to some instead, and binds no rank.
struct MpirunPlacement {
  Placement placement;
  bool by_mpirun = false;
};
MpirunPlacement place_under_mpirun(Bind bind, int ranks);

// Prints what was done about `--bind`, if it was given. `what` is what Placement::describe() returns.
void tell_binding(const LaunchOptions& options, const std::string& what);

// Whether this process was started as a rank, by `tca run`, mpirun or srun. Throws Error{invalid_argument}
// when the launcher's description of the rank is invalid.
bool already_a_rank();

// Returns this process's rank, or -1 when it was not started as one. Throws as already_a_rank() does.
int launched_rank();

// Returns the command line of this process, for a subcommand that launches itself as ranks.
std::vector<std::string> own_command_line();

// Returns whether the name is that of this program, as find_program() finds it.
bool is_this_program(const std::string& name);

// Returns the full path of a program, looked up in PATH when the name has no slash. Empty when there is none.
std::string find_program(const std::string& name);

}  // namespace tca::tool
