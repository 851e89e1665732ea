// How this process itself was started.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "launch.hpp"

namespace tca::tool {
namespace {

const char* mpi_rank_variable() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"})
    if (std::getenv(name)) return name;
  return nullptr;
}

const char* rank_variable() {
  if (std::getenv("OPENTCA_RANK")) return "OPENTCA_RANK";
  if (const char* name = mpi_rank_variable()) return name;
  // A batch script has SLURM_PROCID as well, but only what srun has started has a step.
  const char* tasks = std::getenv("SLURM_NTASKS");
  const bool task =
      std::getenv("SLURM_PROCID") && std::getenv("SLURM_STEP_ID") && tasks && std::atoi(tasks) > 1;
  return task ? "SLURM_PROCID" : nullptr;
}

}  // namespace

bool already_a_rank() { return rank_variable() != nullptr; }

bool is_rank_of_mpi() { return mpi_rank_variable() != nullptr; }

int launched_rank() {
  const char* name = rank_variable();
  return name ? std::atoi(std::getenv(name)) : -1;
}

std::vector<std::string> own_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> argv;
  for (std::string argument; std::getline(file, argument, '\0');) argv.push_back(argument);
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length > 0 && !argv.empty()) argv[0].assign(path.data(), static_cast<std::size_t>(length));
  return argv;
}

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* list = std::getenv("PATH");
  std::istringstream folders(list ? list : "/usr/local/bin:/usr/bin:/bin");
  std::string not_executable;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string path = (folder.empty() ? "." : folder) + "/" + name;
    std::error_code unreadable;
    if (!std::filesystem::is_regular_file(path, unreadable)) continue;
    if (access(path.c_str(), X_OK) == 0) return path;
    if (not_executable.empty()) not_executable = path;
  }
  return not_executable;
}

}  // namespace tca::tool
