// The environment variables that OpenTCA reads, in one table, and how they are read.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tca::base {

struct Variable {
  std::string_view name;
  std::string_view preset;  // the default, for people; empty if there is nothing to say
  std::string_view meaning;
};

// The only table: `tca info`, the manual pages and the code use it, and a test checks the one in
// docs/guide.md against it.
inline constexpr std::array variables{
    Variable{"OPENTCA_TIME_LIMIT", "30", "the number of seconds that a blocking call may take"},
    Variable{"OPENTCA_CHECK", "0", "1: a wait or test without a start is an error"},
    Variable{"OPENTCA_TIMING", "0", "1: chains take the times of their messages"},
    Variable{"OPENTCA_REROUTE", "0", "1: chains go round what has failed"},
    Variable{"OPENTCA_FABRIC", "shm", "shm, cuda, mpi, shm+mpi, cuda+mpi or sim, if the program names none"},
    Variable{"OPENTCA_SUBCLUSTER", "all of a host", "ranks in a sub-cluster, on shm+mpi and cuda+mpi"},
    Variable{"OPENTCA_PROGRESS_THREAD", "0", "1: a thread moves messages on while a rank computes, on mpi"},
    Variable{"OPENTCA_CUDA_AWARE", "MPI is asked", "on or off: whether MPI is given GPU memory, on cuda+mpi"},
    Variable{"OPENTCA_MACHINE", "ha-pacs-tca", "the modelled machine, on sim, if the program names none"},
    Variable{"OPENTCA_FIDELITY", "tlp", "tlp, train, flow or rtl, on sim, if the program names none"},
    Variable{"OPENTCA_FAULTS", "",
             "what fails and when, such as cable:0-1@20us or path:0-1:shm@20ms, if the program says nothing"},
    Variable{"OPENTCA_MACHINES", "", "folders with more machine files, separated by colons"},
    Variable{"OPENTCA_NONTEMPORAL", "both are tried",
             "on or off: whether larger stores on shm bypass the caches"},
    Variable{"OPENTCA_CHANNEL", "", "the channel that every put must take"},
    Variable{"OPENTCA_TUNING", "what tca tune wrote", "the tuning table: a file, or off"},
    Variable{"OPENTCA_MPI", "coll", "off, census, coll or all: what tca mpi does"},
    Variable{"OPENTCA_MPI_DENY", "", "calls that tca mpi leaves to MPI, such as Allreduce,Bcast"},
    Variable{"OPENTCA_MPI_CHECK", "0", "1: tca mpi runs every collective by MPI too, and compares"},
    Variable{"OPENTCA_MPI_REPORT", "0", "1: tca mpi says at the end which calls went which way"},
    Variable{"OPENTCA_MPI_CENSUS", "", "the file of the census of tca mpi"},
    Variable{"OPENTCA_MPI_JOB", "", "set by tca mpi: what this host's ranks have in common"},
    Variable{"OPENTCA_RANK", "", "set by tca run: this process's rank"},
    Variable{"OPENTCA_SIZE", "", "set by tca run: the number of ranks"},
    Variable{"OPENTCA_CONTROL", "", "set by tca run: where the ranks meet"},
    Variable{"OPENTCA_WORDS", "", "set by tca: where its ranks leave their errors"},
    Variable{"OPENTCA_TERMINAL_COLUMNS", "", "set by tca: how wide the terminal is"},
    Variable{"OPENTCA_SKIP_SETUP", "0", "1: make installs no packages"},
    Variable{"XDG_CACHE_HOME", "~/.cache", "where tca tune keeps its tables"},
};

// Former names of variables, accepted silently until 1.0.
struct FormerName {
  std::string_view former, name;
};
inline constexpr std::array former_names{FormerName{"OPENTCA_ROUTE", "OPENTCA_CHANNEL"}};

// Returns the meaning of a variable and, in parentheses, its default.
std::string describe(const Variable& variable);

// The name of one of `variables`. Any other name does not compile.
class VariableName {
 public:
  template <std::size_t Length>
  consteval VariableName(const char (&name)[Length]) : name_(name) {  // NOLINT: implicit
    for (const Variable& variable : variables)
      if (variable.name == name) return;
    throw "src/base/system/environment.hpp has no such variable";
  }
  const char* text() const { return name_; }

 private:
  const char* name_;
};

// Returns the value of a variable, or null if it is unset. Throws Error{invalid_argument}, which names
// both, if a former name of it has another value.
const char* variable(VariableName name);

// Returns the value of a variable, or null if it is unset or empty: a script may have set it to nothing.
const char* set_variable(VariableName name);

// Returns the name under which a variable is set, which may be a former one; its own if it is not set.
std::string_view name_set(VariableName name);

// Return whether a variable is on or off, or 1 or 0; nothing if it is not set. They throw
// Error{invalid_argument} for any other value; the message names the `question` that the variable answers
// ("whether ...").
std::optional<bool> on_or_off(VariableName name, std::string_view question);
std::optional<bool> one_or_zero(VariableName name);

// Returns a line for each of these settings ("NAME=value", as in `environ`) that looks like an OpenTCA
// variable but is not one. The line names the variable that was probably meant. Names that begin with
// OPENTCA_TEST_ are ignored, and so are those that sites use to say where software is installed, such as
// OPENTCA_ROOT.
std::vector<std::string> unknown_variables(const char* const* settings);

// Writes these lines of this process's environment to stderr, once per process.
void warn_of_unknown_variables();

// Writes a line to stderr, once per process.
void say_once(const std::string& line);

}  // namespace tca::base
