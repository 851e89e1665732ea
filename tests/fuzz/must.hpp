// What must hold for whatever a parser is given. A breach aborts, which both libFuzzer and ctest notice.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "tca/error.hpp"

namespace tca::fuzz {

inline void must(bool holds, const char* what, const std::string& of) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", what, of.c_str());
  std::abort();
}

// Runs `read`. Returns what it is refused with, which must be an error of `code` and not an empty one, or an empty string when
// it is read.
template <class Read>
std::string refusal(Errc code, const Read& read) {
  try {
    read();
  } catch (const Error& error) {
    must(error.code() == code, "refused with another code", error.what());
    must(*error.what() != '\0', "refused without a word", {});
    return error.what();
  }
  return {};
}

}  // namespace tca::fuzz
