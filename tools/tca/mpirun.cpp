// Starts the ranks through mpirun, for a job in which MPI takes part.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "cores.hpp"
#include "launch.hpp"
#include "tca/error.hpp"

namespace tca::tool {
namespace {

bool is_open_mpi(const std::string& mpirun) {
  std::FILE* pipe = popen(("'" + mpirun + "' --version 2>/dev/null").c_str(), "r");
  if (!pipe) return true;
  char text[256] = {};
  const std::size_t length = std::fread(text, 1, sizeof text - 1, pipe);
  pclose(pipe);
  return length == 0 || std::strstr(text, "Open MPI") || std::strstr(text, "OpenRTE");
}

bool binds(const LaunchOptions& options) {
  if (options.bind != Bind::automatic) return options.bind == Bind::core;
  return options.ranks <= usable_cores();
}

std::vector<std::string> command_line(const std::string& mpirun, const LaunchOptions& options) {
  std::vector<std::string> line{mpirun, "-n", std::to_string(options.ranks)};
  const std::string bind = binds(options) ? "core" : "none";
  if (is_open_mpi(mpirun))
    line.insert(line.end(), {"--oversubscribe", "--bind-to", bind});
  else
    line.insert(line.end(), {"-bind-to", bind});
  line.insert(line.end(), options.argv.begin(), options.argv.end());
  return line;
}

}  // namespace

int launch_under_mpirun(const LaunchOptions& options) {
  if (options.ranks < 1 || options.ranks > max_ranks)
    throw Error(Errc::invalid_argument,
                fmt::format("{} ranks: 1 to {} are possible", options.ranks, max_ranks));
  const std::string mpirun = find_program("mpirun");
  if (mpirun.empty()) {
    fmt::print(stderr, "{}: mpirun is not there; install Open MPI (package openmpi-bin)\n", options.name);
    return 127;
  }
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  if (geteuid() == 0) {
    setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 1);
    setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 1);
  }
  std::vector<std::string> line = command_line(mpirun, options);
  std::vector<char*> argv;
  for (std::string& argument : line) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  execv(mpirun.c_str(), argv.data());
  fmt::print(stderr, "{}: {}: {}\n", options.name, mpirun, std::strerror(errno));
  return 126;
}

}  // namespace tca::tool
