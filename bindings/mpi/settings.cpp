#include "mpi/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "mpi/deny.hpp"

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
  return std::ranges::none_of(names_in(denied),
                              [&](std::string_view one) { return is_same_call(one, name); });
}

}  // namespace tca::interposer
