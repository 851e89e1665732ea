// `tca mpi`: runs an MPI program with the library's collectives in front of MPI's. It stands behind mpirun, once for each rank, and
// becomes the program.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/environment.hpp"
#include "base/text/spelling.hpp"
#include "cli/launch/launch.hpp"
#include "cli/launch/team.hpp"
#include "cli/options/one_of.hpp"
#include "cli/subcommand.hpp"
#include "mpi/deny.hpp"
#include "mpi/program.hpp"

namespace tca::tool {

namespace {

struct MpiOptions {
  std::string mpi;
  bool census = false, report = false, check = false;
  std::string denied, json;
  std::vector<std::string> argv;
};

void set(const char* variable, const std::string& value) { setenv(variable, value.c_str(), 1); }

// What is said of the job is said by one of its ranks.
bool is_first_rank() {
  for (const char* const variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"})
    if (const char* const rank = std::getenv(variable)) return std::strcmp(rank, "0") == 0;
  return true;
}

// A name that this host's ranks of the job have in common, and no other job.
std::string job() {
  const char* const name = std::getenv("PMIX_NAMESPACE");
  return name != nullptr ? name : fmt::format("{}", getppid());
}

std::filesystem::path library(const std::string& mpi) {
  const std::filesystem::path home =
      std::filesystem::read_symlink("/proc/self/exe").parent_path().parent_path();
  return home / OPENTCA_LIBRARY_FOLDER / "opentca" / ("libtca-mpi-" + mpi + ".so");
}

// Puts the library before the program's MPI, or says why it does not.
void put_before(const std::string& program, const MpiOptions& options) {
  const MpiOfProgram found = options.mpi.empty() ? find_mpi(program) : MpiOfProgram{options.mpi, {}};
  std::string obstacle = found.obstacle;
  const std::filesystem::path path = library(found.name);
  if (obstacle.empty() && !std::filesystem::exists(path))
    obstacle = fmt::format("this OpenTCA was built without {} ({} is not there)", found.name, path.string());
  if (obstacle.empty() && !options.mpi.empty())  // who names it may mean one that is not to be found
    if (const std::string missing = what_is_missing(path, program); !missing.empty())
      obstacle = fmt::format("the loader does not find {}; name its folder in LD_LIBRARY_PATH", missing);
  if (!obstacle.empty()) {
    if (is_first_rank()) fmt::print(stderr, "tca mpi: everything is left to MPI: {}\n", obstacle);
    return;
  }
  const char* const others = std::getenv("LD_PRELOAD");
  set("LD_PRELOAD", others != nullptr && *others != '\0' ? path.string() + ":" + others : path.string());
  set("OPENTCA_MPI_JOB", job());
  if (options.census || !options.json.empty()) set("OPENTCA_MPI", "census");
  if (options.report) set("OPENTCA_MPI_REPORT", "1");
  if (options.check) set("OPENTCA_MPI_CHECK", "1");
  if (!options.denied.empty()) set("OPENTCA_MPI_DENY", options.denied);
  if (!options.json.empty()) set("OPENTCA_MPI_CENSUS", std::filesystem::absolute(options.json).string());
}

// Returns why a list names calls that nobody need leave to MPI, or nothing.
std::string unknown_calls(const std::string& list) {
  const std::vector<std::string_view> unknown = interposer::unserved_in(list);
  if (unknown.empty()) return {};
  std::vector<std::string_view> served(interposer::served_collectives.begin(),
                                       interposer::served_collectives.end());
  const std::string collectives = fmt::format("{}", fmt::join(served, ", "));
  served.insert(served.end(), interposer::message_calls.begin(), interposer::message_calls.end());
  const auto meant = base::nearest(interposer::plain(unknown.front()), served);
  return fmt::format("`{}` is no call that OpenTCA serves; {}", unknown.front(),
                     meant ? fmt::format("did you mean `{}`?", *meant)
                           : fmt::format("it serves {} and, with OPENTCA_MPI=all, {}", collectives,
                                         fmt::join(interposer::message_calls, ", ")));
}

[[noreturn]] void become(const MpiOptions& options) {
  const std::string program = program_to_run(options.argv.front());
  const char* const mode = base::set_variable("OPENTCA_MPI");
  if (mode == nullptr || std::strcmp(mode, "off") != 0) put_before(program, options);
  std::vector<char*> argv;
  for (const std::string& word : options.argv) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  throw cannot_start(program, errno);
}

int run(const MpiOptions& options) {
  try {
    become(options);
  } catch (const CannotRun& error) {
    if (is_first_rank()) fmt::print(stderr, "tca mpi: {}\n", error.what());
    return error.exit_code;
  }
}

}  // namespace

void add_mpi(Subcommands& tca) {
  auto options = std::make_shared<MpiOptions>();
  CLI::App& app = tca.add("mpi", "Runs an MPI program, unchanged, with OpenTCA's collectives (behind mpirun)",
                          "mpirun -n 8 tca mpi ./app\n"
                          "mpirun -n 8 tca mpi --census ./app",
                          [options] { return run(*options); });
  app.add_option("--mpi", options->mpi, "MPI of a program from which it cannot be told, such as a script")
      ->check(one_of({"openmpi", "mpich", "abi"}));
  app.add_flag("--census", options->census, "Count and time the program's calls, and change nothing");
  app.add_option("--json", options->json, "File for a census, which tca plot draws; asks for one by itself")
      ->type_name("FILE");
  app.add_flag("--report", options->report,
               "Say at the end which calls were served, and why others were not");
  app.add_flag("--check", options->check, "Run every served collective by MPI too, and compare");
  app.add_option("--deny", options->denied, "Calls that are left to MPI, such as Allreduce,Bcast")
      ->check(CLI::Validator(unknown_calls, ""));
  app.add_option("PROGRAM", options->argv, "The program and its arguments")->required()->expected(1, -1);
  app.positionals_at_end();
}

}  // namespace tca::tool
