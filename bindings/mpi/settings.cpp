#include "mpi/settings.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <string_view>

namespace tca::interposer {

namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

bool is_set(const char* name) {
  const std::string value = variable(name);
  return !value.empty() && value != "0";
}

// Names compare without MPI_ and in small letters. A call with large counts goes the way of the other, with which ranks may mix it.
std::string plain(std::string_view name) {
  std::string small;
  for (const char letter : name) small += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (small.ends_with("_c")) small.resize(small.size() - 2);
  return small.starts_with("mpi_") ? small.substr(4) : small;
}

Settings read() {
  Settings settings;
  const std::string mode = variable("OPENTCA_MPI");
  if (mode == "off")
    settings.mode = Mode::off;
  else if (mode == "census")
    settings.mode = Mode::census;
  else if (mode == "all")
    settings.mode = Mode::all;
  else if (!mode.empty() && mode != "coll")
    settings.trouble = fmt::format("OPENTCA_MPI={}: choose off, census, coll or all", mode);
  settings.denied = variable("OPENTCA_MPI_DENY");
  settings.check = is_set("OPENTCA_MPI_CHECK");
  settings.report = is_set("OPENTCA_MPI_REPORT");
  settings.census_file = variable("OPENTCA_MPI_CENSUS");
  return settings;
}

}  // namespace

const Settings& Settings::get() {
  static const Settings settings = read();
  return settings;
}

bool Settings::allows(std::string_view name) const {
  std::string_view rest = denied;
  while (!rest.empty()) {
    const std::size_t comma = rest.find(',');
    if (plain(rest.substr(0, comma)) == plain(name)) return false;
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return true;
}

}  // namespace tca::interposer
