// Any text is read as a machine file, or refused with an error that names the place.
#pragma once

#include <regex>
#include <string>
#include <string_view>

#include "model/machine/machine.hpp"
#include "must.hpp"

namespace tca::fuzz {

inline std::string try_machine(std::string_view text) {
  const std::string error =
      refusal(Errc::invalid_argument, [&] { net::read_machine(net::MachineFile(text, "fuzz.toml")); });
  static const std::regex place("^[^:]*:[0-9]+:[0-9]+: ");
  must(error.empty() || std::regex_search(error, place), "no place in", error);
  return error;
}

}  // namespace tca::fuzz
