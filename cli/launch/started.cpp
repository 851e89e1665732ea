// Finds out how this process itself was started.
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "boot/launch_info.hpp"
#include "cli/launch/launch.hpp"

namespace tca::tool {
bool already_a_rank() { return launched_rank() >= 0; }

int launched_rank() {
  const boot::LaunchInfo launch = boot::find_launch_info();
  return launch.launcher.empty() ? -1 : launch.rank;
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

bool is_this_program(const std::string& name) {
  std::error_code unknown;
  return std::filesystem::equivalent(find_program(name), "/proc/self/exe", unknown);
}

}  // namespace tca::tool
