// Starts a program as N ranks on this host and stays until every one of them has ended.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace tca::tool {

inline constexpr int max_ranks = 4096;

enum class Bind {
  automatic,  // a core each when there are enough cores, otherwise none
  core,       // rank r on the r-th core, round and round
  none,
};

// Whether so many ranks are bound. mpirun gives each a core of its own, `tca run` a hardware thread where cores are short.
bool binds(Bind bind, int ranks, bool by_mpirun);

struct LaunchOptions {
  std::string name = "tca run";   // begins every message
  int ranks = 1;                  // 1 to max_ranks
  std::vector<std::string> argv;  // the program, found through PATH, and its arguments
  bool argv_is_tca = false;       // the ranks are this program, and tell what goes wrong to this process
  bool argv_is_mpirun = false;    // the program is one process, which starts and ends the ranks itself
  std::string scratch;  // a folder to make for the launch, removed with all that is in it at the end
  Bind bind = Bind::automatic;
  bool tag = false;             // begin each line of output with `[rank] `
  bool fails_in_words = false;  // a rank that exits with a code has said why, and that adds nothing
  std::vector<std::pair<std::string, std::string>> environment;  // added to each rank's
};

// Returns 0 when every rank did, otherwise the first failing rank's exit code (128 + signal when it was
// killed), 128 + signal when this process was interrupted, 126 or 127 when the program cannot run or is not
// there. All ranks have ended by then; one line on stderr has said why. Throws Error{invalid_argument} for a
// number of ranks out of range, Error{out_of_memory} when the system refuses to start so many.
int launch(const LaunchOptions& options);

// The same by way of mpirun, which says itself what happened to a rank; its exit code. `tag` has no effect. Returns 127
// after one line on stderr when there is no mpirun.
int launch_under_mpirun(LaunchOptions options);

bool has_mpirun();

// Whether this process was started as a rank: by `tca run`, mpirun, or srun. Throws Error{invalid_argument} when what its
// launcher says of it cannot be.
bool already_a_rank();

// This process's rank, or -1 when it was not started as one. Throws likewise.
int launched_rank();

// How this process was started, for a subcommand that launches itself as ranks.
std::vector<std::string> own_command_line();

// The full path of a program, looked up in PATH when the name has no slash; empty when there is none.
std::string find_program(const std::string& name);

}  // namespace tca::tool
