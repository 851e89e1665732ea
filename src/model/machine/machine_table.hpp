// Reads a machine file table by table. Numbers are returned in the model's units, and a key that nobody
// asked for is an error.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/machine/machine_file.hpp"
#include "model/machine/machine_units.hpp"

namespace tca::net {

class MachineTable;

// One reading of a file. It records the keys asked for and the numbers found. Every error is
// Error{invalid_argument}, whose message begins with FILE:LINE:COLUMN.
class MachineReading {
 public:
  explicit MachineReading(const MachineFile& file, Overrides overrides = {});

  MachineTable root();

  // Throws for the first key that nobody asked for, and suggests the nearest one that was asked for.
  void finish() const;

  // The numbers, in the order in which they were asked for.
  const std::vector<MachineNumber>& numbers() const { return numbers_; }
  const MachineFile& file() const { return file_; }

 private:
  friend class MachineTable;
  const MachineFile& file_;
  Overrides overrides_;
  std::vector<MachineNumber> numbers_;
  // Keys asked for, by the path of their table: names joined by slashes, empty for the root.
  std::map<std::string, std::set<std::string, std::less<>>, std::less<>> asked_;
};

class MachineTable {
 public:
  bool has(std::string_view key) const;
  MachineTable table(std::string_view key) const;

  // Returns the names of the tables within this one, in their order in the file. Each counts as asked for.
  std::vector<std::string> tables() const;

  std::int64_t time(std::string_view key) const;  // ps
  std::int64_t size(std::string_view key) const;  // bytes
  double rate(std::string_view key) const;        // bytes per second, above 0
  double operations(std::string_view key) const;  // per second, above 0
  double fraction(std::string_view key) const;    // above 0; has no unit and need not be whole
  std::int64_t count(std::string_view key, std::int64_t least, std::int64_t most) const;

  // Words and truth values are in the file as they are, without a source.
  std::string word(std::string_view key) const;
  std::string word(std::string_view key, std::initializer_list<std::string_view> choices) const;
  bool truth(std::string_view key) const;
  std::vector<std::string> words(std::string_view key) const;                    // ["a", "b"], at least one
  std::vector<std::vector<std::string>> word_lists(std::string_view key) const;  // [["a", "b"], ["c"]]
  // Reads { value = [4, 2, 2], ... }, which has a source, as numbers do.
  std::vector<std::int64_t> extents(std::string_view key, std::int64_t most) const;

  // Throws an error at the place of `key`, or of the table itself if there is no such key.
  [[noreturn]] void reject(std::string_view key, std::string_view why) const;

  const std::string& path() const { return path_; }
  Place place(std::string_view key) const;

 private:
  friend class MachineReading;
  MachineTable(MachineReading& reading, std::string path) : reading_(&reading), path_(std::move(path)) {}
  struct Found;
  Found find(std::string_view key, Quantity quantity) const;
  double number(std::string_view key, Quantity quantity) const;
  std::string full(std::string_view key) const;
  void ask(std::string_view key) const;
  [[noreturn]] void missing(std::string_view key, std::string_view what) const;

  MachineReading* reading_;
  std::string path_;
};

}  // namespace tca::net
