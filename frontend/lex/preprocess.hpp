// The system's preprocessor, twice: once over the program, and once over its pragmas, in which compilers
// expand no macros of their own accord.
#pragma once

#include <string>
#include <vector>

#include "lex/place.hpp"

namespace tca::xacc {

struct Preprocessed {
  std::string text;                  // with line markers and pragmas, without definitions of macros
  std::vector<std::string> pragmas;  // each without `#pragma`, expanded, in the order of the text
};

// `command` is the compiler with all options that the preprocessor needs. Throws Fault where it fails; what
// it says itself has gone to standard error by then.
Preprocessed preprocess(const std::vector<std::string>& command, const std::string& source);

// Runs a command with `input` as its standard input. Returns its exit code, with what it writes in `output`
// if that is given.
int run_command(const std::vector<std::string>& command, const std::string& input, std::string* output);

}  // namespace tca::xacc
