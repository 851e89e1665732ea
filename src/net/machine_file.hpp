// Machine files as they lie on disk: where they are found, how one builds on another, and where in them a thing
// stands. docs/model.md says what they hold.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tca::net {

// Of a value in a file; lines and columns count from 1.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

// "machines/quong.toml:12:7"
std::string to_string(const Place& place);

// How sure a number is.
enum class Origin { published, measured, fitted };

std::string_view to_string(Origin origin);

// A number of a machine file, as written there.
struct MachineNumber {
  std::string key;  // "mpi/mvapich2/post": the tables' names and its own
  double value = 0;
  std::string unit;  // empty for a count
  Origin origin = Origin::published;
  std::string source;
  Place place;      // of the number itself, which `tca fit` rewrites
  int columns = 0;  // how wide it is written there
};

// The key of the number that this one follows, whose source is "fit: same as KEY"; empty for others.
std::string_view leader_of(const MachineNumber& number);

// Values that stand in for those of the file, in its own units: what a fit tries.
using Overrides = std::map<std::string, double, std::less<>>;

// The machines in all folders searched, by name.
std::vector<std::string> list_machines();

// The file of a machine: NAME.toml in $OPENTCA_MACHINES (folders, by colons) or where OpenTCA's own are
// (base/data.hpp); or the path itself, when `name` ends in .toml. Throws Error{invalid_argument}.
std::filesystem::path find_machine(const std::string& name);

// The folder of the published figures, machines/published, beside one of the folders above.
std::filesystem::path find_published();

// A machine file and those it extends, merged; parsed, but not yet understood. What a file extends is looked for beside it
// first, then as find_machine does.
class MachineFile {
 public:
  // Throws Error{invalid_argument}, its message beginning with FILE:LINE:COLUMN.
  explicit MachineFile(const std::filesystem::path& path);
  // The text itself, as if it were that of the file `name`, which need not be there.
  MachineFile(std::string_view text, const std::string& name);
  ~MachineFile();
  MachineFile(MachineFile&&) noexcept;
  MachineFile& operator=(MachineFile&&) noexcept;

  const std::string& name() const { return name_; }

  struct Tree;
  const Tree& tree() const { return *tree_; }

 private:
  std::string name_;
  std::unique_ptr<Tree> tree_;
};

}  // namespace tca::net
