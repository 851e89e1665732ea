// Where something stands in the user's files, and how the user is told about it.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tca::xacc {

// Line and column count from 1; column 0 means the whole line.
struct Place {
  std::string_view file = {};
  int line = 0;
  int column = 0;
};

// The user's files as they are on disk. Preprocessed text has their lines but not their columns, which are
// found again here.
class Files {
 public:
  // Keeps a name for as long as this lives.
  std::string_view name(std::string_view file);
  // A line without its end; empty where the file cannot be read or is shorter.
  std::string_view line(std::string_view file, int number);
  // The column of the `nth` (from 0) occurrence of a word in a line, and in those that continue it with a
  // backslash; the place of the line itself if there is none.
  Place find(std::string_view file, int line, std::string_view word, int nth);

 private:
  const std::vector<std::string>& lines(std::string_view file);
  std::deque<std::string> names_;
  std::map<std::string, std::vector<std::string>, std::less<>> files_;
};

// What is wrong with a program: the rule that it breaks and a way out, both sentences without a full stop.
struct Fault {
  Place place;
  std::string rule;
  std::string remedy = {};
};

enum class Severity { error, warning };

// Prints `file:line:column: error: rule`, the line with a caret, and the way out.
void print(Files& files, Severity severity, const Fault& fault);

}  // namespace tca::xacc
