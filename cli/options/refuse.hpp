// Checks the arguments of subcommands before anything has run.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "base/fail.hpp"
#include "base/system/environment.hpp"
#include "base/system/whole_file.hpp"

namespace tca::tool {

// Throws Error{invalid_argument} with the message.
template <class... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) {
  base::fail(Errc::invalid_argument, text, std::forward<Args>(args)...);
}

// Refuses a file that cannot be written to; creates none. An empty path means no file.
void check_writable(const std::string& path);

// A file that an option names; an empty path means no file.
struct NamedFile {
  const char* option;
  std::string path;
};

// Refuses files when writing one would overwrite or append to another.
void check_distinct(std::initializer_list<NamedFile> files);

// Returns the file that is replaced when a new one is written beside `path` and renamed: the file that its
// links lead to, so that the links stay. Refuses what exists but is no regular file, such as a device, which
// would be lost.
std::string replaced_file(const std::string& path);

// Refuses a file that will be written to a draft, whose name is the file's with `suffix`, and then renamed,
// when the file cannot be replaced or no draft can be written. An empty path means no file.
void check_replaceable(const std::string& path, const std::string& suffix = base::draft_suffix);

// Refuses a setting of a modelled machine where none is modelled, if it was given by `option` rather than by
// its environment variable.
inline void check_for_model(const char* option, base::VariableName variable, const std::string& value,
                            const std::string& fabric) {
  const char* by_environment = base::variable(variable);
  if (fabric == "sim" || value.empty() || (by_environment && value == by_environment)) return;
  refuse("{} {} is for --fabric sim; {} is not modelled", option, value,
         fabric.empty() ? "this host" : fabric);
}

inline void check_machine(const std::string& fabric, const std::string& machine) {
  check_for_model("--machine", "OPENTCA_MACHINE", machine, fabric);
}

// Parts of a machine fail where it is modelled, and paths between ranks elsewhere.
inline void check_faults(const std::string& fabric, const std::string& faults) {
  if (!faults.starts_with("path:")) check_for_model("--fault", "OPENTCA_FAULTS", faults, fabric);
}

}  // namespace tca::tool
