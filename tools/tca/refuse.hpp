// What subcommands say of arguments that cannot be, before anything has run.
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>

#include "base/fail.hpp"

namespace tca::tool {

// Throws Error{invalid_argument}.
template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  base::fail(Errc::invalid_argument, text, std::forward<Args>(args)...);
}

// Refuses a file that cannot be written to, and leaves none that was not there. An empty path is no file.
void check_writable(const std::string& path);

// A file that an option names; an empty path is no file.
struct NamedFile {
  const char* option;
  std::string path;
};

// Refuses files of which one would be written over or into another.
void check_distinct(std::initializer_list<NamedFile> files);

// The file that is replaced when a new one is written beside `path` and renamed: what its links lead to, so that they stay.
// Refuses what is there and no regular file, such as a device, which would be gone.
std::string replaced_file(const std::string& path);

// Refuses a file that will be written beside its place, under its name and `suffix`, and then renamed: where the one or the
// other cannot be. An empty path is no file.
void check_replaceable(const std::string& path, const std::string& suffix);

// Refuses what a modelled machine is told by `option` here, rather than by its variable, where none is modelled.
inline void check_for_model(const char* option, const char* variable, const std::string& value,
                            const std::string& fabric) {
  const char* by_environment = std::getenv(variable);
  if (fabric == "sim" || value.empty() || (by_environment && value == by_environment)) return;
  refuse("{} {} is for --fabric sim; {} is not modelled", option, value,
         fabric.empty() ? "this host" : fabric);
}

inline void check_machine(const std::string& fabric, const std::string& machine) {
  check_for_model("--machine", "OPENTCA_MACHINE", machine, fabric);
}

}  // namespace tca::tool
