// Machine files on disk: where they are found, how one extends another, and where in a file a value is.
// docs/model.md describes their contents.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tca::net {

// The place of a value in a file. Lines and columns count from 1.
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

// Formats a place as in "machines/quong.toml:12:7".
std::string to_string(const Place& place);

// How reliable a number is.
enum class Origin { published, measured, fitted };

std::string_view to_string(Origin origin);

// A number in a machine file, as written there.
struct MachineNumber {
  std::string key;  // "mpi/mvapich2/post": the names of its tables and its own
  double value = 0;
  std::string unit;  // empty for a count
  Origin origin = Origin::published;
  std::string source;
  Place place;      // of its digits
  int columns = 0;  // width of the digits
};

// Returns the key of the number that this one follows: its source is "fit: same as KEY". Empty for other
// numbers.
std::string_view leader_of(const MachineNumber& number);

// Values that replace those of the file, in the file's own units: what a fit tries.
using Overrides = std::map<std::string, double, std::less<>>;

// Returns the names of the machines in all folders searched.
std::vector<std::string> list_machines();

// Returns the file of a machine: NAME.toml in the folders of $OPENTCA_MACHINES (separated by colons) or
// where OpenTCA's own machines are (base/data.hpp). If `name` ends in .toml, it is the path itself. Throws
// Error{invalid_argument}.
std::filesystem::path find_machine(const std::string& name);

// Returns the folder of the published figures, `published` in one of the folders above.
std::filesystem::path find_published();

// A machine file merged with the files that it extends. It is parsed, but not yet interpreted. An extended
// file is looked for first next to the extending file, then as find_machine does.
class MachineFile {
 public:
  // Throws Error{invalid_argument}, whose message begins with FILE:LINE:COLUMN.
  explicit MachineFile(const std::filesystem::path& path);
  // Takes `text` as the contents of the file `name`, which need not exist.
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
