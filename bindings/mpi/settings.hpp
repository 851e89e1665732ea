// What the environment asks of the library.
#pragma once

#include <bitset>
#include <cstddef>
#include <string>
#include <string_view>

namespace tca::interposer {

enum class Mode { off, census, coll, all };

struct Settings {
  Mode mode = Mode::coll;   // OPENTCA_MPI
  std::string denied;       // OPENTCA_MPI_DENY: names without MPI_, with commas
  bool check = false;       // OPENTCA_MPI_CHECK: everything twice, compared
  bool report = false;      // OPENTCA_MPI_REPORT: what went which way, at the end
  std::string census_file;  // OPENTCA_MPI_CENSUS: where the census goes, as JSON
  std::string trouble;      // what cannot be understood; empty where all can

  static const Settings& get();
  bool allows(std::string_view name) const;  // with or without MPI_ before it
};

}  // namespace tca::interposer
