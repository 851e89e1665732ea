// Starts the ranks of a job that uses MPI, through mpirun.
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/text/ranks.hpp"
#include "cli/launch/child.hpp"
#include "cli/launch/launch.hpp"
#include "cli/launch/team.hpp"
#include "cli/output/progress.hpp"

namespace tca::tool {
namespace {

// Returns Open MPI's release, from "mpirun (Open MPI) 4.1.4", or 0 for another MPI. An mpirun that gives no
// version is taken for an old Open MPI.
int open_mpi_release(const std::string& mpirun) {
  constexpr int oldest = 1;
  std::FILE* pipe = popen(("'" + mpirun + "' --version 2>/dev/null").c_str(), "r");
  if (!pipe) return oldest;
  char text[256] = {};
  const std::size_t length = std::fread(text, 1, sizeof text - 1, pipe);
  pclose(pipe);
  if (length == 0) return oldest;
  for (const char* name : {"(Open MPI) ", "(OpenRTE) "})
    if (const char* found = std::strstr(text, name))
      return std::max(oldest, std::atoi(found + std::strlen(name)));
  return std::strstr(text, "Open MPI") || std::strstr(text, "OpenRTE") ? oldest : 0;
}

std::string reader_in_words(int reader) {
  return reader == nobody ? "none" : reader == everybody ? "all" : std::to_string(reader);
}

std::vector<std::string> command_line(const std::string& mpirun, const LaunchOptions& options, bool binds) {
  std::vector<std::string> line{mpirun, "-n", std::to_string(options.ranks)};
  const std::string bind = binds ? "core" : "none", reader = reader_in_words(options.stdin_reader);
  if (const int release = open_mpi_release(mpirun); release > 0) {
    line.insert(line.end(), {"--oversubscribe", "--bind-to", bind});
    if (options.stdin_reader != 0) line.insert(line.end(), {"--stdin", reader});
    if (options.fails_in_words && release < 5) line.emplace_back("--quiet");  // later releases do not know it
  } else {
    line.insert(line.end(), {"-bind-to", bind});
    if (options.stdin_reader != 0) line.insert(line.end(), {"-s", reader});
  }
  line.insert(line.end(), options.argv.begin(), options.argv.end());
  return line;
}

// In an allocation ranks may be on other hosts, which do not have this host's folders.
bool in_an_allocation() {
  return std::getenv("SLURM_JOB_ID") || std::getenv("PBS_JOBID") || std::getenv("LSB_JOBID");
}

const std::string shared_memory = "/dev/shm";

// Returns how the names begin of the folders whose launchers this process can look up. Containers may share
// /dev/shm, and each numbers its processes by itself, so the name contains the PID namespace. Empty where the
// system does not tell.
std::string scratch_name() {
  struct stat processes {};
  if (stat("/proc/self/ns/pid", &processes) != 0) return {};
  return fmt::format("opentca-mpirun.{}.", processes.st_ino);
}

// Removes the folders of launches that were killed together with their guards.
void remove_left_over(const std::string& begin) {
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(shared_memory, unreadable)) {
    const std::string name = entry.path().filename();
    if (!name.starts_with(begin)) continue;
    const pid_t launcher = std::atoi(name.c_str() + begin.size());
    if (launcher > 0 && kill(launcher, 0) != 0 && errno == ESRCH) remove_scratch(entry.path().c_str());
  }
}

// Open MPI's ranks share memory through files in /dev/shm, which remain when the ranks are killed. In a
// folder of their own they can be removed.
void give_scratch(LaunchOptions& options) {
  const std::string begin = scratch_name();
  if (in_an_allocation() || begin.empty() || access(shared_memory.c_str(), W_OK | X_OK) != 0) return;
  remove_left_over(begin);
  options.scratch = fmt::format("{}/{}{}", shared_memory, begin, getpid());
  for (const char* transport : {"vader", "sm"})  // the transport's name before Open MPI 5, and since
    options.environment.emplace_back(fmt::format("OMPI_MCA_btl_{}_backing_directory", transport),
                                     options.scratch);
}

// mpirun binds to cores from the first one on, whatever this process itself may use.
bool has_whole_host(const Host& host) {
  return host.taken.empty() && static_cast<long>(host.cpus.size()) == sysconf(_SC_NPROCESSORS_ONLN);
}

std::string describe_confined(const Placement& placement) {
  if (!placement.binds()) return placement.describe();
  std::vector<int> cpus = placement.cpus;
  std::sort(cpus.begin(), cpus.end());
  return fmt::format("the ranks share processors {}", base::list_ranks(cpus));
}

}  // namespace

MpirunPlacement place_under_mpirun(Bind bind, int ranks) {
  if (bind != Bind::automatic) return {{}, bind == Bind::core};
  Host host = look_at_host();
  const bool begins_at_free_cores = in_an_allocation() || has_whole_host(host);
  std::set<int> cores;  // to each of which mpirun binds one rank
  std::erase_if(host.cpus, [&](const Cpu& cpu) { return !cores.insert(cpu.core).second; });
  MpirunPlacement where{place(bind, ranks, host)};
  where.by_mpirun = where.placement.binds() && begins_at_free_cores;
  return where;
}

bool has_mpirun() { return !find_program("mpirun").empty(); }

int launch_under_mpirun(LaunchOptions options) {
  const std::string mpirun = find_program("mpirun");
  if (mpirun.empty()) {
    fmt::print(stderr, "{}: mpirun is not there; install Open MPI (package openmpi-bin)\n", options.name);
    return 127;
  }
  try {
    program_to_run(options.argv.front());
  } catch (const CannotRun& error) {
    fmt::print(stderr, "{}: {}\n", options.name, error.what());
    return error.exit_code;
  }
  if (geteuid() == 0) {
    options.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT", "1");
    options.environment.emplace_back("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
  }
  // mpirun's ranks write into a pipe, but their output ends up on this terminal.
  if (const int columns = terminal_columns(); columns > 0)
    options.environment.emplace_back(terminal_columns_variable.text(), std::to_string(columns));
  give_scratch(options);
  const MpirunPlacement where = place_under_mpirun(options.bind.how, options.ranks);
  tell_binding(options,
               where.by_mpirun ? "mpirun binds each rank to a core" : describe_confined(where.placement));
  options.argv = command_line(mpirun, options, where.by_mpirun);
  if (!in_an_allocation()) options.mpirun_cpus = where.placement.cpus;
  options.argv_is_mpirun = true;
  if (options.stdin_reader != nobody) options.stdin_reader = 0;
  return launch(options);
}

}  // namespace tca::tool
