// What subcommands say of arguments that cannot be, before anything has run.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "base/fail.hpp"

namespace tca::tool {

// Throws Error{invalid_argument}.
template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  base::fail(Errc::invalid_argument, text, std::forward<Args>(args)...);
}

// Refuses a file that cannot be written to. An empty path is no file.
inline void check_writable(const std::string& path) {
  if (!path.empty() && !std::ofstream(path, std::ios::app)) refuse("{}: cannot be written", path);
}

// Refuses a file that will be written beside its place, under its name and `suffix`, and then renamed: where the one or the
// other cannot be. An empty path is no file.
void check_replaceable(const std::string& path, const std::string& suffix);

// Refuses a machine to model that was asked for here, rather than by the environment, where none is modelled.
inline void check_machine(const std::string& fabric, const std::string& machine) {
  const char* by_environment = std::getenv("OPENTCA_MACHINE");
  if (fabric == "sim" || machine.empty() || (by_environment && machine == by_environment)) return;
  refuse("--machine {} is for --fabric sim; {} is not modelled", machine,
         fabric.empty() ? "this host" : fabric);
}

}  // namespace tca::tool
