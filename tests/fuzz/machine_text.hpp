// Checks what must hold for any text that is read as a machine file: it is read, or refused with an error
// that names the place.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>

#include "model/machine/machine.hpp"
#include "tca/error.hpp"

namespace tca::net {

// Returns the error message, or an empty string when the text was read. Aborts when the error names no place.
inline std::string try_machine(std::string_view text) {
  try {
    read_machine(MachineFile(text, "fuzz.toml"));
  } catch (const Error& error) {
    static const std::regex place("^[^:]*:[0-9]+:[0-9]+: ");
    if (error.code() == Errc::invalid_argument && std::regex_search(error.what(), place)) return error.what();
    std::fprintf(stderr, "no place in: %s\n", error.what());
    std::abort();
  }
  return {};
}

}  // namespace tca::net
